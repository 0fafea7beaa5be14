// xlate. Tests: tests/golden/sema (tst.translator.d, err.D_XLATE_*.d), tests/golden/lower (tst.xlate.d), tests/runtime/language
// (tst.xlate.d).
#include "compiler/sema/translate.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/similar.h"
#include "compiler/ast/visitor.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/check_name.h"
#include "compiler/sema/check_types.h"
#include "compiler/sema/compatible.h"
#include "compiler/sema/convert.h"
#include "compiler/sema/declarator.h"

namespace dvm::compiler {

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

// Tries the declared types first, then through typedefs, then the rules for arguments.
Translator* find_translator(ExprContext& c, const Type* to, const Expr& from) {
  if (Translator* t = c.session.translators.find_exact(to, from.type)) return t;
  const auto fits = [&](Translator& t, bool exactly) {
    return same_type(t.to, to) && (exactly ? same_type(t.from, from.type) : is_compatible(t.from, from));
  };
  for (const bool exactly : {true, false})
    for (Translator& t : c.session.translators.all())
      if (fits(t, exactly)) return &t;
  return nullptr;
}

// The operand as the definitions may use it any number of times: itself, or a variable that `set` then assigns.
ExprPtr bind_operand(ExprContext& c, Translate& e, unsigned uses, ExprPtr& set) {
  const Type* type = e.translator->from;
  if (is_simple(*e.operand) || is_record(e.operand->type) || (uses < 2 && !has_effect(*e.operand))) return std::move(e.operand);
  auto variable = [&, name = c.session.translators.fresh_name()] {
    auto v = std::make_unique<Scoped>(e.where);
    v->scope = dif::Scope::clause, v->name = name;
    return v;
  };
  c.symbols.add_variable(dif::Scope::clause, variable()->name, type).is_temporary = true;
  auto assign = std::make_unique<Assign>(e.where);
  assign->target = variable();
  assign->value = convert(std::move(e.operand), type);
  set = std::move(assign);
  return variable();
}

// The definition of a member with the operand in the place of the parameter, as the member's type.
ExprPtr translate_member(ExprContext& c, MemberTranslation& m, const Translator& t, const Expr& operand, Location where) {
  ExprPtr body = clone(*m.from->value);
  place_at(*body, where);
  substitute(body, {{{t.parameter, &operand, t.from}}});
  if (m.is_expanding) {
    c.session.error(Tag::D_IDENT_BADREF, where, fmt::format("translator member {} may not refer to itself", m.from->name));
    body->type = c.types.error();
    return body;
  }
  m.is_expanding = true;
  check_expanded(c, body, where);
  m.is_expanding = false;
  return cls(m.field->type) == TypeClass::array ? std::move(body) : convert(std::move(body), m.field->type);
}

// curcpu, which is a pointer to an object in DTrace.
bool is_kept(const Type* type) { return is_pointer(type) && target_of(type)->name == "cpuinfo_t"; }

void expand_translation(ExprContext& c, ExprPtr& e);

// Its value as a pointer leads to a copy in scratch.
void point_at_copy(ExprContext& c, ExprPtr& e) {
  auto cast = std::make_unique<Cast>(e->where);
  cast->type = e->type;
  e->type = target_of(e->type);
  expand_translation(c, e);
  cast->operand = std::move(e);
  e = std::move(cast);
}

void expand_translation(ExprContext& c, ExprPtr& e) {
  auto& translate = static_cast<Translate&>(*e);
  if (!translate.problem.empty()) return fail(c, *e, Tag::D_ARGS_TYPE, translate.problem);
  if (is_kept(e->type)) return point_at_copy(c, e);
  if (is_pointer(e->type))
    return fail(c, *e, Tag::D_OP_DYNAMIC,
                fmt::format("a translated pointer may only be followed by ->: no object of type {} exists in memory",
                            target_of(e->type)->name),
                {fmt::format("xlate <{}> (...) makes a copy", target_of(e->type)->name)});
  ExprPtr set;
  const ExprPtr operand = bind_operand(c, translate, 2, set);
  for (MemberTranslation& m : translate.translator->members)
    if (!m.is_broken) translate.members.push_back({m.field, translate_member(c, m, *translate.translator, *operand, e->where)});
  translate.operand = std::move(set);
  if (translate.operand) check(c, translate.operand);
}

}  // namespace

bool can_translate(ExprContext& c, const Type* to, const Expr& from) {
  const Type* record = is_pointer(to) ? target_of(to) : to;
  return is_record(record) && find_translator(c, record, from);
}

ExprPtr check(ExprContext& c, Translate& e) {
  if (!check_conversion(c, e, e.to.get(), e.operand)) return nullptr;
  const Type* record = is_pointer(e.type) ? target_of(e.type) : e.type;
  if (!is_record(record)) {
    fail(c, e, Tag::D_XLATE_SOU, fmt::format("translated type must be a struct or union, not {}", e.type->name));
    return nullptr;
  }
  e.translator = find_translator(c, record, *e.operand);
  if (e.translator) {
    (void)is_stable_enough(c, e, fmt::format("translator from {} to {}", e.translator->from->name, record->name),
                           e.translator->attributes);
    return nullptr;
  }
  std::vector<std::string> hints;
  for (const Translator& t : c.session.translators.all())
    if (same_type(t.to, record)) hints.push_back(fmt::format("there is one from \"{}\"", t.from->name));
  fail(c, e, Tag::D_XLATE_NONE, fmt::format("cannot translate from \"{}\" to \"{}\"", e.operand->type->name, e.type->name),
       std::move(hints));
  return nullptr;
}

ExprPtr translated_member(ExprContext& c, Member& e, Translate& from) {
  Translator& t = *from.translator;
  MemberTranslation* m = t.find(e.name);
  if (!m || m->is_broken) {
    if (m || !c.session.is_new_lack(fmt::format("{}.{}", t.to->name, e.name))) return fail(c, e), nullptr;
    std::vector<std::string_view> names;
    for (const MemberTranslation& known : t.members) names.push_back(known.from->name);
    std::vector<std::string> hints = near_hints(e.name, names);
    if (!resolve(*t.to).find(e.name)) hints.push_back(fmt::format("{} has no such member", t.to->name));
    fail(c, e, Tag::D_XLATE_NOCONV, fmt::format("translator does not define conversion for member: {}", e.name),
         std::move(hints));
    return nullptr;
  }
  ExprPtr set;
  const ExprPtr operand = bind_operand(c, from, count_uses(*m->from->value, t.parameter), set);
  ExprPtr value = translate_member(c, *m, t, *operand, e.where);
  if (is_error(value->type)) return fail(c, e), nullptr;
  if (!set) return value;
  check(c, set);
  auto comma = std::make_unique<Comma>(e.where);
  comma->type = value->type;
  comma->first = std::move(set), comma->second = std::move(value);
  return comma;
}

void expand_translations(ExprPtr& e, Session& s) {
  auto* translate = as<Translate>(e.get());
  const bool is_translated = translate && translate->translator && translate->members.empty();
  if (is_translated || (translate && !translate->problem.empty())) {
    ExprContext context(s);
    expand_translation(context, e);
  }
  for_each_child(*e, [&](ExprPtr& child) {
    if (child) expand_translations(child, s);
  });
}

}  // namespace dvm::compiler
