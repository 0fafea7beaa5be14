// Declarations of translators. Tests: tests/golden/sema (tst.translator.d, err.D_XLATE_*.d).
#include <fmt/format.h>

#include "compiler/sema/check_expr.h"
#include "compiler/sema/check_name.h"
#include "compiler/sema/compatible.h"
#include "compiler/sema/declarator.h"
#include "compiler/sema/declare.h"

namespace dvm::compiler {

namespace {

const Type* output_type(TranslatorDecl& d, Session& s) {
  const Type* to = type_of(d.to, s);
  if (is_error(to)) return to;
  const Location where = d.to.specifiers.where;
  if (!is_record(to))
    s.error(Tag::D_XLATE_SOU, where, fmt::format("translator output type must be a struct or union, not {}", to->name));
  else if (!resolve(*to).is_complete)
    s.error(Tag::D_XLATE_SOU, where, fmt::format("translator output type {} is declared only, not defined", to->name));
  else
    return to;
  return s.types.error();
}

const Type* input_type(TranslatorDecl& d, Session& s) {
  const Type* from = type_of(d.from, s);
  if (is_error(from) || (!is_void(from) && cls(from) != TypeClass::function && resolve(*from).is_complete)) return from;
  s.error(Tag::D_XLATE_INCOMPAT, d.from.specifiers.where, fmt::format("translator input may not be of type {}", from->name));
  return s.types.error();
}

// What stands for the parameter while the definitions are checked.
Identifier declare_parameter(const Translator& t, Session& s) {
  Identifier name(Location{});
  name.name = add_placeholder(t.from, s);
  return name;
}

// False after a diagnostic: the definition of a member has no value of the member's type.
bool check_definition(const Translator& t, const MemberTranslation& m, const Expr& parameter, Session& s) {
  ExprPtr body = clone(*m.from->value);
  substitute(body, {{{t.parameter, &parameter, t.from}}});
  ExprContext context(s);
  if (!check_value(context, body)) return false;
  if (is_compatible(m.field->type, *body)) return true;
  s.error(Tag::D_XLATE_INCOMPAT, m.from->where,
          fmt::format("translator member {} definition uses incompatible types: \"{}\" = \"{}\"", m.from->name,
                      m.field->type->name, body->type->name));
  return false;
}

void declare_member(const TranslatorMember& member, const Expr& parameter, Translator& t, Session& s) {
  const Field* field = resolve(*t.to).find(member.name);
  if (!field)
    return s.error(Tag::D_XLATE_MEMB, member.where,
                   fmt::format("translator member {} is not a member of {}", member.name, t.to->name),
                   member_hints(*t.to, member.name));
  // Of two definitions the first makes the member, and the last stays in a copy of the structure, as in dtrace.
  MemberTranslation& added = t.members.emplace_back(MemberTranslation{&member, field});
  added.is_broken = !check_definition(t, added, parameter, s);
}

}  // namespace

void declare(TranslatorDecl& declaration, Session& s) {
  Translator t;
  t.to = output_type(declaration, s);
  t.from = input_type(declaration, s);
  t.parameter = declaration.parameter;
  if (is_error(t.to) || is_error(t.from)) return;
  if (s.translators.find_exact(t.to, t.from))
    return s.error(Tag::D_XLATE_REDECL, declaration.where,
                   fmt::format("translator from {} to {} has already been declared", t.from->name, t.to->name));
  Translator& added = s.translators.add(std::move(t));
  const Identifier parameter = declare_parameter(added, s);
  for (const TranslatorMember& member : declaration.members) declare_member(member, parameter, added, s);
}

}  // namespace dvm::compiler
