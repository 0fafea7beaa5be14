// Questions about types. Tests: tests/unit/compiler/literal_test.cpp.
#include "compiler/types/type.h"

namespace dvm::compiler {

const Type& resolve(const Type& type) {
  const Type* t = &type;
  while (t->alias) t = t->alias;
  return *t;
}

const Field* Type::find(std::string_view field) const {
  if (source) source->add_members(*this);
  for (const Field& f : fields)
    if (f.name == field) return &f;
  return nullptr;
}

bool is_integer(const Type* t) { return cls(t) == TypeClass::integer || cls(t) == TypeClass::enumeration; }
bool is_pointer(const Type* t) { return cls(t) == TypeClass::pointer || cls(t) == TypeClass::array; }
bool is_scalar(const Type* t) { return is_integer(t) || is_pointer(t); }
bool is_key(const Type* t) {
  return is_string(t) || is_integer(t) || cls(t) == TypeClass::pointer || (is_record(t) && resolve(*t).is_complete);
}
bool is_char_pointer(const Type* t) { return is_pointer(t) && resolve(*target_of(t)).is_char; }
bool is_string_like(const Type* t) { return is_string(t) || is_char_pointer(t); }

bool is_same(const Type* left, const Type* right) {
  const Type &a = resolve(*left), &b = resolve(*right);
  if (&a == &b) return true;
  if (a.cls != b.cls) return false;
  switch (a.cls) {
    case TypeClass::pointer:
      return is_same(a.target, b.target);
    case TypeClass::array:
      return a.count == b.count && is_same(a.target, b.target);
    case TypeClass::function:
      return true;
    default:
      return false;
  }
}

bool is_by_reference(const Type* t) {
  return is_string(t) || is_record(t) || is_array(t) || (is_floating(t) && resolve(*t).size > 8);
}

bool is_object(const Type* t) { return !is_void(t) && !is_function_type(t) && !is_error(t) && resolve(*t).is_complete; }

const Type* target_of(const Type* t) { return resolve(*t).target; }

dif::DataType data_type(const Type* type) {
  const Type& t = resolve(*type);
  dif::DataType d;
  d.name = type->name;
  switch (t.cls) {
    case TypeClass::integer:
    case TypeClass::enumeration:
      d.kind = dif::TypeKind::integer, d.is_signed = t.is_signed, d.is_char = t.is_char;
      d.size = static_cast<uint32_t>(t.size);
      break;
    case TypeClass::floating:
      d.kind = t.size > 8 ? dif::TypeKind::bytes : dif::TypeKind::integer;
      d.size = static_cast<uint32_t>(t.size);
      d.name = t.name;  // not that of a typedef: it tells floating point from integers
      break;
    case TypeClass::pointer:
    case TypeClass::function:
      d.kind = dif::TypeKind::integer, d.size = 8;
      d.name = t.name;  // not that of a typedef: listings tell a pointer by its name
      break;
    case TypeClass::string:
      d.kind = dif::TypeKind::string;
      break;
    case TypeClass::array:
    case TypeClass::record:
      d.kind = dif::TypeKind::bytes, d.size = static_cast<uint32_t>(t.size);
      break;
    case TypeClass::error:
    case TypeClass::void_:
      break;
  }
  return d;
}

}  // namespace dvm::compiler
