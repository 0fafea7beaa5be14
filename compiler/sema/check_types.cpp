// Expressions that name a type, and constants. Tests: tests/golden/sema.
#include "compiler/sema/check_types.h"

#include <fmt/format.h>

#include "compiler/sema/check_expr.h"
#include "compiler/sema/check_name.h"
#include "compiler/sema/check_target.h"
#include "compiler/sema/declarator.h"
#include "compiler/sema/find_type.h"
#include "compiler/sema/fold_constants.h"
#include "compiler/types/layout.h"

namespace dvm::compiler {

ExprPtr check(ExprContext& c, Integer& e) {
  if (!e.type) e.type = c.types.of_constant(e.value, e.decimal, e.is_unsigned, e.is_long);
  e.is_zero_constant = e.value == 0;
  return nullptr;
}

ExprPtr check(ExprContext& c, String& e) {
  e.type = c.types.basic("string");
  return nullptr;
}

bool check_conversion(ExprContext& c, Expr& e, TypeName* to, ExprPtr& operand) {
  if (to != nullptr) e.type = type_of(*to, c.session);
  check(c, operand);
  const bool is_good = !is_error(e.type) && !is_error(operand->type);
  if (!is_good) fail(c, e);
  return is_good;
}

ExprPtr check(ExprContext& c, Cast& e) {
  if (!check_conversion(c, e, e.to.get(), e.operand)) return nullptr;
  const bool scalars = is_scalar(e.type) && is_scalar(e.operand->type) && cls(e.type) != TypeClass::array;
  const bool strings = is_string(e.type) && (is_string_like(e.operand->type) || is_pointer(e.operand->type));
  const bool from_string = is_pointer(e.type) && is_string(e.operand->type);
  const bool to_void = is_void(e.type) && e.to;
  if (!scalars && !strings && !from_string && !to_void && &resolve(*e.type) != &resolve(*e.operand->type)) {
    fail(c, e, Tag::D_CAST_INVAL, fmt::format("invalid cast expression: \"{}\" to \"{}\"", e.operand->type->name, e.type->name));
    return nullptr;
  }
  e.is_user = is_pointer(e.type) && is_of_target(*e.operand);
  return fold(e);
}

namespace {

// A variable of known type, which a type of the kernel with its name does not hide.
bool is_variable_of_program(ExprContext& c, const Specifiers& spec) {
  if (!c.session.options.types) return false;
  const auto data = c.session.options.types->find_data(target_module(spec.module), spec.name);
  return data && data->has_type;
}

// "sizeof (`x[2])" reads as that of an array of a type `x. Null: only such a type is known, or it can be nothing else.
ExprPtr as_expression(ExprContext& c, SizeofType& e) {
  Specifiers& spec = e.of->specifiers;
  const Qualifiers& q = spec.qualifiers;
  if (e.is_alignment || spec.form != TypeForm::named || !spec.is_scoped || q.is_const || q.is_volatile) return nullptr;
  for (const Derivation& d : e.of->declarator.derivations)
    if (d.kind != Derivation::Kind::array || !d.count) return nullptr;
  if (spec.module == "D" || spec.module == "C") return nullptr;
  if (!is_variable_of_program(c, spec) && c.session.target.find(target_module(spec.module), "", spec.name)) return nullptr;
  auto external = std::make_unique<External>(spec.where);
  external->module = spec.module, external->name = spec.name;
  ExprPtr value = std::move(external);
  for (Derivation& d : e.of->declarator.derivations) {
    auto index = std::make_unique<Index>(e.where);
    index->base = std::move(value);
    index->arguments.push_back(clone(*d.count));
    value = std::move(index);
  }
  auto size = std::make_unique<SizeofValue>(e.where);
  size->operand = std::move(value);
  return size;
}

}  // namespace

ExprPtr check(ExprContext& c, SizeofType& e) {
  if (ExprPtr value = as_expression(c, e)) {
    check(c, value);
    return value;
  }
  const Type* t = type_of(*e.of, c.session);
  if (is_error(t))
    fail(c, e);
  else if (!c.session.is_defined(t) || !is_object(t))
    fail(c, e, Tag::D_SIZEOF_TYPE, fmt::format("cannot apply sizeof to an operand of unknown size: {}", t->name),
         c.session.type_hints(*t));
  else
    return make_integer(e.where, e.is_alignment ? alignment_of(*t) : resolve(*t).size, c.types.basic("size_t"));
  return nullptr;
}

namespace {

// "sizeof (foo_t)" of the traced program reads as that of a variable. Null: it is one, or there is no such type.
const Type* type_of_program(ExprContext& c, const Expr& operand) {
  const auto* name = as<Identifier>(&operand);
  if (!name || c.symbols.find(dif::Scope::global, name->name) || is_function(name->name, c.session)) return nullptr;
  const Result<const Type*> found = c.session.target.find("", "", name->name);
  return found && c.session.is_defined(*found) && is_object(*found) ? *found : nullptr;
}

}  // namespace

ExprPtr check(ExprContext& c, SizeofValue& e) {
  if (const Type* t = type_of_program(c, *e.operand)) return make_integer(e.where, resolve(*t).size, c.types.basic("size_t"));
  const bool is_unevaluated = std::exchange(c.is_unevaluated, true);
  check(c, e.operand);
  c.is_unevaluated = is_unevaluated;
  const auto* member = as<Member>(e.operand.get());
  if (is_error(e.operand->type))
    fail(c, e);
  else if (const auto* text = as<String>(e.operand.get()))
    return make_integer(e.where, text->value.size() + 1, c.types.basic("size_t"));
  else if (member && member->field && member->field->bits)
    fail(c, e, Tag::D_SIZEOF_BITFIELD, "cannot apply sizeof to a bit-field");
  else if (!c.session.is_defined(e.operand->type) || !is_object(e.operand->type))
    fail(c, e, Tag::D_SIZEOF_TYPE, fmt::format("cannot apply sizeof to an operand of unknown size: {}", e.operand->type->name));
  else
    return make_integer(e.where, resolve(*e.operand->type).size, c.types.basic("size_t"));
  return nullptr;
}

ExprPtr check(ExprContext& c, OffsetOf& e) {
  const Type* t = type_of(*e.of, c.session);
  if (is_error(t)) {
    fail(c, e);
    return nullptr;
  }
  const Field* field = is_record(t) ? resolve(*t).find(e.member) : nullptr;
  if (!is_record(t) || !c.session.is_defined(t))
    fail(c, e, Tag::D_OFFSETOF_TYPE, fmt::format("offsetof may only be applied to a struct or union type, not {}", t->name));
  else if (!field)
    fail(c, e, Tag::D_TYPE_MEMBER, fmt::format("{} is not a member of {}", e.member, t->name), member_hints(*t, e.member));
  else if (field->bits)
    fail(c, e, Tag::D_OFFSETOF_BITFIELD, "cannot take offset of a bit-field");
  else
    return make_integer(e.where, field->offset, c.types.basic("size_t"));
  return nullptr;
}

ExprPtr check(ExprContext& c, StringOf& e) {
  check(c, e.operand);
  e.type = c.types.basic("string");
  if (is_error(e.operand->type))
    fail(c, e);
  else if (!is_string_like(e.operand->type) && !is_scalar(e.operand->type))
    fail(c, e, Tag::D_STRINGOF_TYPE, fmt::format("cannot apply stringof to a value of type {}", e.operand->type->name));
  return nullptr;
}

}  // namespace dvm::compiler
