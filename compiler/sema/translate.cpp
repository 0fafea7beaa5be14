// translator and xlate. Tests: tests/golden/sema (tst.translator.d, err.D_XLATE_*.d), tests/golden/lower (tst.xlate.d),
// tests/runtime/language (tst.xlate.d).
#include <fmt/format.h>

#include <algorithm>

#include "common/similar.h"
#include "compiler/ast/visitor.h"
#include "compiler/sema/check_types.h"
#include "compiler/sema/declare.h"

namespace dvm::compiler {

MemberTranslation* Translator::find(std::string_view member) {
  for (MemberTranslation& m : members)
    if (m.from->name == member) return &m;
  return nullptr;
}

Translator* Translators::find_exact(const Type* to, const Type* from) {
  for (Translator& t : all_)
    if (t.from == from && &resolve(*t.to) == &resolve(*to)) return &t;
  return nullptr;
}

namespace {

bool same_type(const Type* a, const Type* b) {
  const Type &x = resolve(*a), &y = resolve(*b);
  if (&x == &y) return true;
  return x.cls == TypeClass::pointer && y.cls == TypeClass::pointer && same_type(x.target, y.target);
}

unsigned count_uses(Expr& e, const std::string& parameter) {
  const auto* name = as<Identifier>(&e);
  unsigned uses = name && name->name == parameter;
  for_each_child(e, [&](ExprPtr& child) { uses += count_uses(*child, parameter); });
  return uses;
}

bool has_effect(Expr& e) {
  const auto* unary = as<Unary>(&e);
  bool found = e.kind == ExprKind::Assign || e.kind == ExprKind::Postfix || e.kind == ExprKind::Call ||
               (unary && (unary->op == Op::increment || unary->op == Op::decrement));
  for_each_child(e, [&](ExprPtr& child) { found = found || has_effect(*child); });
  return found;
}

// Costs as little as a variable that would hold it.
bool is_simple(const Expr& e) {
  if (const auto* cast = as<Cast>(&e)) return is_simple(*cast->operand);
  return e.kind == ExprKind::Integer || e.kind == ExprKind::String || e.kind == ExprKind::Identifier ||
         e.kind == ExprKind::Scoped;
}

// --- Declaration

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

// Whether the definition of a member has a value of the member's type; diagnosed if not.
bool check_definition(const Translator& t, const MemberTranslation& m, const Expr& parameter, Session& s) {
  ExprPtr body = clone(*m.from->value);
  substitute(body, {{{t.parameter, &parameter, t.from}}});
  ExprChecker checker(s);
  if (!checker.check_value(body)) return false;
  if (checker.is_compatible(m.field->type, *body)) return true;
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
  if (t.find(member.name))
    return s.error(Tag::D_XLATE_REDECL, member.where, fmt::format("translator member {} is defined twice", member.name));
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

// --- Use

// As declared, then through typedefs, then as an argument would fit.
Translator* ExprChecker::find_translator(const Type* to, const Expr& from) {
  if (Translator* t = s_.translators.find_exact(to, from.type)) return t;
  const auto fits = [&](Translator& t, bool exactly) {
    return same_type(t.to, to) && (exactly ? same_type(t.from, from.type) : is_compatible(t.from, from));
  };
  for (const bool exactly : {true, false})
    for (Translator& t : s_.translators.all())
      if (fits(t, exactly)) return &t;
  return nullptr;
}

bool ExprChecker::can_translate(const Type* to, const Expr& from) {
  const Type* record = is_pointer(to) ? target_of(to) : to;
  return is_record(record) && find_translator(record, from);
}

ExprPtr ExprChecker::check(Translate& e) {
  if (e.to) e.type = type_of(*e.to, s_);
  check(e.operand);
  if (is_error(e.type) || is_error(e.operand->type)) {
    fail(e);
    return nullptr;
  }
  const Type* record = is_pointer(e.type) ? target_of(e.type) : e.type;
  if (!is_record(record)) {
    fail(e, Tag::D_XLATE_SOU, fmt::format("translated type must be a struct or union, not {}", e.type->name));
    return nullptr;
  }
  e.translator = find_translator(record, *e.operand);
  if (e.translator) {
    (void)is_stable_enough(e, fmt::format("translator from {} to {}", e.translator->from->name, record->name),
                           e.translator->attributes);
    return nullptr;
  }
  std::vector<std::string> hints;
  for (const Translator& t : s_.translators.all())
    if (same_type(t.to, record)) hints.push_back(fmt::format("there is one from \"{}\"", t.from->name));
  fail(e, Tag::D_XLATE_NONE, fmt::format("cannot translate from \"{}\" to \"{}\"", e.operand->type->name, e.type->name),
       std::move(hints));
  return nullptr;
}

// The operand as the definitions may use it any number of times: itself, or a variable that `set` then assigns.
ExprPtr ExprChecker::bind_operand(Translate& e, unsigned uses, ExprPtr& set) {
  const Type* type = e.translator->from;
  if (is_simple(*e.operand) || is_record(e.operand->type) || (uses < 2 && !has_effect(*e.operand))) return std::move(e.operand);
  auto variable = [&, name = s_.translators.fresh_name()] {
    auto v = std::make_unique<Scoped>(e.where);
    v->scope = dif::Scope::clause, v->name = name;
    return v;
  };
  s_.symbols.add_variable(dif::Scope::clause, variable()->name, type).is_temporary = true;
  auto assign = std::make_unique<Assign>(e.where);
  assign->target = variable();
  assign->value = convert(std::move(e.operand), type);
  set = std::move(assign);
  return variable();
}

// The definition of a member with the operand in the place of the parameter, as the member's type.
ExprPtr ExprChecker::translate_member(MemberTranslation& m, const Translator& t, const Expr& operand, Location where) {
  ExprPtr body = clone(*m.from->value);
  place_at(*body, where);
  substitute(body, {{{t.parameter, &operand, t.from}}});
  if (m.is_expanding) {
    s_.error(Tag::D_IDENT_BADREF, where, fmt::format("translator member {} may not refer to itself", m.from->name));
    body->type = s_.types.error();
    return body;
  }
  m.is_expanding = true;
  check_expanded(body, where);
  m.is_expanding = false;
  return cls(m.field->type) == TypeClass::array ? std::move(body) : convert(std::move(body), m.field->type);
}

ExprPtr ExprChecker::translated_member(Member& e, Translate& from) {
  Translator& t = *from.translator;
  MemberTranslation* m = t.find(e.name);
  if (!m || m->is_broken) {
    if (m) return fail(e), nullptr;
    const std::string what = resolve(*t.to).find(e.name) ? "" : fmt::format(", and {} has no such member", t.to->name);
    std::vector<std::string_view> names;
    for (const MemberTranslation& known : t.members) names.push_back(known.from->name);
    fail(e, Tag::D_XLATE_NOCONV, fmt::format("translator does not define conversion for member: {}{}", e.name, what),
         near_hints(e.name, names));
    return nullptr;
  }
  ExprPtr set;
  const ExprPtr operand = bind_operand(from, count_uses(*m->from->value, t.parameter), set);
  ExprPtr value = translate_member(*m, t, *operand, e.where);
  if (is_error(value->type)) return fail(e), nullptr;
  if (!set) return value;
  check(set);
  auto comma = std::make_unique<Comma>(e.where);
  comma->type = value->type;
  comma->first = std::move(set), comma->second = std::move(value);
  return comma;
}

// --- Whole structures

void ExprChecker::expand_translation(ExprPtr& e) {
  auto& translate = static_cast<Translate&>(*e);
  if (!translate.problem.empty()) return fail(*e, Tag::D_ARGS_TYPE, translate.problem);
  if (is_pointer(e->type))
    return fail(
        *e, Tag::D_OP_DYNAMIC,
        fmt::format("a translated pointer may only be followed by ->: nothing of type {} is in memory", target_of(e->type)->name),
        {fmt::format("xlate <{}> (...) makes a copy", target_of(e->type)->name)});
  ExprPtr set;
  const ExprPtr operand = bind_operand(translate, 2, set);
  for (MemberTranslation& m : translate.translator->members)
    if (!m.is_broken) translate.members.push_back({m.field, translate_member(m, *translate.translator, *operand, e->where)});
  translate.operand = std::move(set);
  if (translate.operand) check(translate.operand);
}

void expand_translations(ExprPtr& e, Session& s) {
  auto* translate = as<Translate>(e.get());
  const bool is_translated = translate && translate->translator && translate->members.empty();
  if (is_translated || (translate && !translate->problem.empty())) ExprChecker(s).expand_translation(e);
  for_each_child(*e, [&](ExprPtr& child) {
    if (child) expand_translations(child, s);
  });
}

}  // namespace dvm::compiler
