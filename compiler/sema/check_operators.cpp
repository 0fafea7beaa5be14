// Operators: what they take and what they make. Tests: tests/golden/sema.
#include <fmt/format.h>

#include "compiler/sema/check_types.h"
#include "compiler/sema/declare.h"
#include "compiler/sema/fold_constants.h"
#include "dvm/dif/instruction.h"

namespace dvm::compiler {

bool ExprChecker::require(bool condition, Expr& e, Tag tag, const char* format, Op op) {
  if (!condition) fail(e, tag, fmt::format(fmt::runtime(format), token(op)));
  return condition;
}

void ExprChecker::incompatible(Expr& e, const Expr& left, std::string_view op, const Expr& right) {
  fail(e, Tag::D_OP_INCOMPAT,
       fmt::format("operands have incompatible types: \"{}\" {} \"{}\"", left.type->name, op, right.type->name));
}

// Pointers to the same type, to void, or one pointer and an integer.
bool ExprChecker::pointers_match(const Expr& left, const Expr& right) const {
  const bool l = is_pointer(left.type), r = is_pointer(right.type);
  if (l && r) {
    const Type &a = resolve(*target_of(left.type)), &b = resolve(*target_of(right.type));
    return &a == &b || a.cls == TypeClass::void_ || b.cls == TypeClass::void_;
  }
  if (is_string(left.type) && right.is_zero_constant && r) return true;
  if (is_string(right.type) && left.is_zero_constant && l) return true;
  return (l && is_integer(right.type)) || (r && is_integer(left.type));
}

bool ExprChecker::is_compatible(const Type* formal, const Expr& actual) const {
  const Type* t = actual.type;
  if (is_integer(formal)) return is_integer(t) || is_pointer(t);
  if (is_string(formal)) return is_string_like(t) || (is_pointer(t) && actual.is_zero_constant);
  if (is_char_pointer(formal) && is_string(t)) return true;
  if (is_pointer(formal)) {
    if (is_integer(t)) return true;
    if (is_string(t)) return is_void(target_of(formal));
    if (!is_pointer(t)) return false;
    const Type &a = resolve(*target_of(formal)), &b = resolve(*target_of(t));
    return &a == &b || a.cls == TypeClass::void_ || b.cls == TypeClass::void_;
  }
  return &resolve(*formal) == &resolve(*t) && !is_void(t);
}

void ExprChecker::check_counted(Expr& e, ExprPtr& operand, Op op) {
  declare_counted(*operand);
  check(operand);
  if (is_error(operand->type))
    fail(e);
  else if (check_lvalue(*operand, e, token(op)) &&
           require(is_scalar(operand->type), e, Tag::D_OP_SCALAR, "operator {} requires an operand of scalar type", op))
    e.type = operand->type;
}

ExprPtr ExprChecker::check(Unary& e) {
  if (e.op == Op::increment || e.op == Op::decrement) {
    check_counted(e, e.operand, e.op);
    return nullptr;
  }
  e.op == Op::address_of ? check_place(e.operand) : check(e.operand);
  const Type* t = e.operand->type;
  if (is_error(t)) {
    fail(e);
    return nullptr;
  }
  if (e.op == Op::dereference) return dereference(e);
  if (e.op == Op::address_of) return address_of(e);
  if (e.op == Op::logical_not) {
    if (require(is_scalar(t), e, Tag::D_OP_SCALAR, "operator {} requires an operand of scalar type", e.op))
      e.type = s_.types.basic("int");
  } else if (e.op == Op::complement) {
    if (require(is_integer(t), e, Tag::D_OP_INT, "operator {} requires an operand of integral type", e.op))
      e.type = s_.types.promote(t);
  } else if (require(is_integer(t), e, Tag::D_OP_ARITH, "operator {} requires an operand of arithmetic type", e.op)) {
    e.type = s_.types.promote(t);
  }
  return is_error(e.type) ? nullptr : fold(e);
}

ExprPtr ExprChecker::dereference(Unary& e) {
  const Type* t = e.operand->type;
  if (e.operand->kind == ExprKind::Translate && is_pointer(t)) {  // the structure itself
    e.operand->type = target_of(t);
    return std::move(e.operand);
  }
  if (!is_pointer(t)) {
    std::vector<std::string> hints;
    if (is_integer(t)) hints.push_back("an address needs a type: *(int *)address");
    fail(e, Tag::D_DEREF_NONPTR, "cannot dereference non-pointer type", std::move(hints));
  } else if (is_void(target_of(t))) {
    fail(e, Tag::D_DEREF_VOID, "cannot dereference pointer to void");
  } else if (!s_.is_defined(target_of(t)) || cls(target_of(t)) == TypeClass::function) {
    fail(e, Tag::D_OP_INCOMPLETE, fmt::format("operator * cannot be applied to a pointer to {}", target_of(t)->name),
         s_.why_missing(target_of(t)));
  } else {
    e.type = target_of(t), e.is_lvalue = true, e.is_user = e.operand->is_user;
  }
  return nullptr;
}

ExprPtr ExprChecker::address_of(Unary& e) {
  const auto* member = as<Member>(e.operand.get());
  const Expr* root = e.operand.get();
  while (const auto* m = as<Member>(root)) {
    if (m->arrow) break;
    root = m->base.get();
  }
  const auto* index = as<Index>(root);
  const bool is_variable =
      root->kind == ExprKind::Identifier || root->kind == ExprKind::Scoped || (index && !is_pointer(index->base->type));
  if (member && member->field && member->field->bits)
    fail(e, Tag::D_ADDROF_BITFIELD, "cannot take address of bit-field");
  else if (is_variable)
    fail(e, Tag::D_ADDROF_VAR, "cannot take address of dynamic variable");
  else if (!e.operand->is_lvalue)
    fail(e, Tag::D_ADDROF_LVAL, "unary & operator requires an lvalue as an operand");
  else
    e.type = s_.types.pointer_to(e.operand->type), e.is_user = e.operand->is_user;
  return nullptr;
}

ExprPtr ExprChecker::check(Postfix& e) {
  check_counted(e, e.operand, e.op);
  return nullptr;
}

ExprPtr ExprChecker::check(Binary& e) {
  check(e.left);
  check(e.right);
  if (is_error(e.left->type) || is_error(e.right->type)) {
    fail(e);
    return nullptr;
  }
  switch (e.op) {
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_xor:
      check_logical(e);
      break;
    case Op::remainder:
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor:
    case Op::shift_left:
    case Op::shift_right:
      check_bitwise(e);
      break;
    case Op::multiply:
    case Op::divide:
      check_arithmetic(e);
      break;
    case Op::add:
    case Op::subtract:
      check_additive(e);
      break;
    default:
      check_comparison(e);
      break;
  }
  return is_error(e.type) ? nullptr : fold(e, s_);
}

void ExprChecker::check_logical(Binary& e) {
  if (require(is_scalar(e.left->type) && is_scalar(e.right->type), e, Tag::D_OP_SCALAR,
              "operator {} requires operands of scalar type", e.op))
    e.type = s_.types.basic("int");
}

void ExprChecker::check_bitwise(Binary& e) {
  if (!require(is_integer(e.left->type) && is_integer(e.right->type), e, Tag::D_OP_INT,
               "operator {} requires operands of integral type", e.op))
    return;
  const bool shift = e.op == Op::shift_left || e.op == Op::shift_right;
  e.type = shift ? s_.types.promote(e.left->type) : s_.types.common(e.left->type, e.right->type);
}

void ExprChecker::check_arithmetic(Binary& e) {
  if (require(is_integer(e.left->type) && is_integer(e.right->type), e, Tag::D_OP_ARITH,
              "operator {} requires operands of arithmetic type", e.op))
    e.type = s_.types.common(e.left->type, e.right->type);
}

void ExprChecker::check_additive(Binary& e) {
  const Type *l = e.left->type, *r = e.right->type;
  if (is_integer(l) && is_integer(r)) {
    e.type = s_.types.common(l, r);
  } else if (is_pointer(l) && is_integer(r)) {
    e.type = s_.types.pointer_to(target_of(l));
  } else if (is_integer(l) && is_pointer(r) && e.op == Op::add) {
    e.type = s_.types.pointer_to(target_of(r));
  } else if (is_pointer(l) && is_pointer(r) && e.op == Op::subtract && &resolve(*target_of(l)) == &resolve(*target_of(r))) {
    e.type = s_.types.basic("ptrdiff_t");
  } else {
    incompatible(e, *e.left, token(e.op), *e.right);
    return;
  }
  if (!is_pointer(e.type)) return;
  e.is_user = is_pointer(l) ? e.left->is_user : e.right->is_user;
  if (cls(target_of(e.type)) == TypeClass::function || !s_.is_defined(target_of(e.type)))
    fail(e, Tag::D_OP_INCOMPLETE,
         fmt::format("operator {} cannot be applied to a pointer to {}", token(e.op), target_of(e.type)->name),
         s_.why_missing(target_of(e.type)));
}

void ExprChecker::check_comparison(Binary& e) {
  const bool integers = is_integer(e.left->type) && is_integer(e.right->type);
  const bool strings = is_string_like(e.left->type) && is_string_like(e.right->type);
  if (!integers && !strings && !pointers_match(*e.left, *e.right)) return incompatible(e, *e.left, token(e.op), *e.right);
  if (strings && (is_string(e.left->type) || is_string(e.right->type)))
    for (ExprPtr* side : {&e.left, &e.right}) *side = convert(std::move(*side), s_.types.basic("string"));
  e.type = s_.types.basic("int");
}

bool ExprChecker::is_assignable(const Type* to, const Expr& value) const {
  if (is_void(value.type) || is_void(to)) return false;
  return is_compatible(to, value);
}

bool ExprChecker::check_lvalue(Expr& target, Expr& operation, std::string_view op) {
  const auto* name = as<Identifier>(&target);
  const auto* index = as<Index>(&target);
  if (!name && index) name = as<Identifier>(index->base.get());
  if (name && name->symbol && name->symbol->kind == SymbolKind::built_in) {
    fail(operation, Tag::D_OP_WRITE, fmt::format("operator {} can only be applied to a writable variable", op));
    return false;
  }
  if (!check_own_memory(target, operation, op)) return false;
  if (target.is_lvalue) return true;
  fail(operation, Tag::D_OP_LVAL, fmt::format("operator {} requires modifiable lvalue as an operand", op));
  return false;
}

// x++ of a name not seen before makes it an int64_t.
void ExprChecker::declare_counted(const Expr& operand) {
  dif::Scope scope;
  std::string name;
  if (!names_variable(operand, scope, name) || s_.symbols.find(scope, name)) return;
  if (!has_room(scope, name, operand.where, s_)) return forget(operand);
  s_.symbols.add_variable(scope, name, s_.types.basic("int64_t"));
}

// The types of the keys of an array that is assigned for the first time. False after a diagnostic.
bool ExprChecker::first_keys(Index& element, const std::string& name, std::vector<const Type*>& types) {
  for (ExprPtr& key : element.arguments) {
    if (!check_value(key)) return false;
    if (!is_key(key->type)) {
      s_.error(Tag::D_KEY_TYPE, key->where,
               fmt::format("{} expression may not be used as {}[ ] index: key #{}", key->type->name, name, types.size() + 1));
      return false;
    }
    types.push_back(key->type);
  }
  if (types.size() <= dif::kTupleDepth) return true;
  s_.error(Tag::D_PROTO_LEN, element.where,
           fmt::format("{}[ ] has too many keys: at most {} are possible", name, dif::kTupleDepth));
  return false;
}

// The variable that an assignment declares by being the first: a scalar, or with = an associative array.
bool ExprChecker::declare_target(Assign& e) {
  auto* element = as<Index>(e.target.get());
  dif::Scope scope;
  std::string name;
  if (!names_variable(element ? *element->base : *e.target, scope, name) || s_.symbols.find(scope, name)) return true;
  if (element && e.op != Op::assign) return true;  // diagnosed as undeclared where it is read
  if (!has_room(scope, name, e.where, s_)) return fail(e), false;
  if (is_void(e.value->type)) return incompatible(e, *e.value, token(Op::assign), *e.value), false;
  const std::string spelled = fmt::format("{}{}", prefix(scope), name);
  if (element && scope == dif::Scope::clause) {
    fail(e, Tag::D_ARR_LOCAL, fmt::format("{}[ ]: clause-local associative arrays are not permitted", spelled),
         {"use a global or thread-local array"});
    return false;
  }
  std::vector<const Type*> keys;
  if (element && !first_keys(*element, spelled, keys)) return fail(e), false;
  const Type* type = e.value->type;
  Symbol& symbol =
      s_.symbols.add_variable(scope, name, cls(type) == TypeClass::array ? s_.types.pointer_to(target_of(type)) : type);
  symbol.is_array = element != nullptr;
  symbol.keys = std::move(keys);
  return true;
}

// A variable whose first assignment is wrong stays unknown; who reads it later is not told again.
void ExprChecker::forget(const Expr& target) {
  const auto* element = as<Index>(&target);
  dif::Scope scope;
  std::string name;
  if (names_variable(element ? *element->base : target, scope, name)) (void)s_.is_new_unknown(scope, name);
}

ExprPtr ExprChecker::check(Assign& e) {
  if (auto* aggregation = as<Aggregation>(e.target.get())) {
    fail(e, Tag::D_AGG_NULL, fmt::format("aggregation @{} may only be assigned in a statement of its own", aggregation->name));
    return nullptr;
  }
  check(e.value);
  if (is_error(e.value->type) || !declare_target(e)) {
    forget(*e.target);
    fail(e);
    return nullptr;
  }
  check(e.target);
  const std::string op = e.op == Op::assign ? "=" : std::string(token(e.op)) + "=";
  if (is_error(e.target->type)) {
    fail(e);
    return nullptr;
  }
  if (!check_lvalue(*e.target, e, op)) return nullptr;
  e.type = e.target->type;
  const bool pointer_step = is_pointer(e.target->type) && is_integer(e.value->type) && (e.op == Op::add || e.op == Op::subtract);
  const bool fits = e.op == Op::assign ? is_assignable(e.target->type, *e.value) && cls(e.target->type) != TypeClass::array
                                       : pointer_step || (is_integer(e.target->type) && is_integer(e.value->type));
  if (!fits) {
    incompatible(e, *e.target, op, *e.value);
  } else if ((e.op == Op::divide || e.op == Op::remainder) && as<Integer>(e.value.get()) && e.value->is_zero_constant) {
    fail(e, Tag::D_DIV_ZERO, "expression contains division by zero");
  } else if (is_string(e.target->type)) {
    e.value = convert(std::move(e.value), e.target->type);
  }
  return nullptr;
}

}  // namespace dvm::compiler
