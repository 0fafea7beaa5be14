// Which types go together. Tests: tests/golden/sema.
#include "compiler/sema/compatible.h"

namespace dvm::compiler {

namespace {

bool points_to_void(const Type* t) { return is_pointer(t) && is_void(target_of(t)); }

}  // namespace

// Nothing can be added to it, nor can it be dereferenced as an object.
bool is_void_or_function_pointer(const Type* t) {
  return cls(t) == TypeClass::pointer && (is_void(target_of(t)) || is_function_type(target_of(t)));
}

bool is_address(const Type* t) { return is_pointer(t) || is_string(t); }

// Pointers to types that are compatible; a string counts as an array of characters.
bool same_targets(const Type* l, const Type* r) {
  if (points_to_void(l) || points_to_void(r)) return true;
  if (is_string(l) || is_string(r)) return is_string_like(l) && is_string_like(r);
  return is_same(target_of(l), target_of(r));
}

// Pointers to the same type or to void, or a pointer and the constant 0; a string counts as a pointer to its characters.
bool pointers_match(const Expr& left, const Expr& right) {
  const bool l = is_address(left.type), r = is_address(right.type);
  if (l && r) return (is_pointer(left.type) || is_pointer(right.type)) && same_targets(left.type, right.type);
  const bool mixed = (l && is_integer(right.type)) || (r && is_integer(left.type));
  return mixed && (left.is_zero_constant || right.is_zero_constant);  // NULL goes with integers too
}

bool is_compatible(const Type* formal, const Expr& actual) {
  const Type* t = actual.type;
  if (is_integer(formal)) return is_integer(t) || is_pointer(t);
  if (is_string(formal)) return is_string_like(t) || (is_scalar(t) && actual.is_zero_constant);
  if (is_char_pointer(formal) && is_string(t)) return true;
  if (is_pointer(formal)) {
    if (is_integer(t)) return true;
    if (is_string(t)) return is_void(target_of(formal));
    if (!is_pointer(t)) return false;
    return same_targets(formal, t);
  }
  return is_same(formal, t) && !is_void(t);
}

// C's rules, and strings from and to what has characters.
bool is_assignable(const Type* to, const Expr& value) {
  if (is_integer(to)) return is_integer(value.type) || (is_pointer(value.type) && value.is_zero_constant);
  if (is_string_like(to) && is_string_like(value.type)) return true;
  if (!is_address(to)) return is_same(to, value.type) && !is_void(to);
  if (is_address(value.type)) return same_targets(to, value.type);
  return is_integer(value.type) && value.is_zero_constant;
}

// What either of two values is; null when there is no such type.
const Type* common_type(ExprContext& c, const Expr& a, const Expr& b) {
  if (is_integer(a.type) && is_integer(b.type) && !is_same(a.type, b.type)) return c.types.common(a.type, b.type);
  if (is_string(a.type) ? is_string_like(b.type) : is_string(b.type) && is_string_like(a.type)) return c.types.basic("string");
  if (is_same(a.type, b.type) && !is_void(a.type) && !is_array(a.type)) return a.type;
  if (!pointers_match(a, b)) return nullptr;
  const bool take_left = is_integer(b.type) || (!is_integer(a.type) && is_pointer(b.type) && is_void(target_of(b.type)));
  const Type* t = take_left ? a.type : b.type;
  return is_array(t) ? c.types.pointer_to(target_of(t)) : t;
}

}  // namespace dvm::compiler
