// Members of structures and unions. Tests: tests/golden/sema.
#include "compiler/sema/check_member.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/check_expr.h"
#include "compiler/sema/translate.h"
#include "compiler/sema/typed_argument.h"

namespace dvm::compiler {

namespace {

// A virtual base, direct or not, and the way to it.
struct ReachedBase {
  const Type* type = nullptr;
  std::vector<const VirtualBase*> through;
};

using ReachedBases = std::vector<ReachedBase>;

// Adds the virtual bases of a class that are not among them. Damaged debug information may describe any number, and circles.
void add_bases(ReachedBases& reached, const Type& record, const std::vector<const VirtualBase*>& through) {
  constexpr size_t kMost = 1024;
  (void)record.find("");  // brings the bases in
  for (const VirtualBase& base : record.virtual_bases) {
    const Type* type = &resolve(*base.type);
    const auto is_same = [&](const ReachedBase& other) { return other.type == type; };
    if (reached.size() >= kMost || std::any_of(reached.begin(), reached.end(), is_same)) continue;
    reached.push_back({type, through});
    reached.back().through.push_back(&base);
  }
}

// Adds the virtual bases of those that are there, by the shortest ways.
void add_further_bases(ReachedBases& reached) {
  for (size_t n = 0; n < reached.size(); n++) {
    const ReachedBase next = reached[n];
    add_bases(reached, *next.type, next.through);
  }
}

// The virtual bases that have such a member. A class hides the members of its own bases.
ReachedBases bases_with(const Type& record, const std::string& name) {
  ReachedBases having;
  add_bases(having, resolve(record), {});
  add_further_bases(having);
  std::erase_if(having, [&](const ReachedBase& base) { return base.type->find(name) == nullptr; });
  ReachedBases hidden;
  for (const ReachedBase& base : having) add_bases(hidden, *base.type, {});
  add_further_bases(hidden);
  std::erase_if(having, [&](const ReachedBase& base) {
    return std::any_of(hidden.begin(), hidden.end(), [&](const ReachedBase& other) { return other.type == base.type; });
  });
  return having;
}

// Leaves the field null if there is no such member, or its place is not known. False after a diagnostic.
bool find_in_virtual_bases(ExprContext& c, Member& e, const Type& record) {
  constexpr size_t kDeepest = 16;
  const ReachedBases having = bases_with(record, e.name);
  if (having.size() > 1) {
    fail(c, e, Tag::D_TYPE_MEMBER,
         fmt::format("{} is ambiguous: {} and {}, virtual bases of {}, have a member of this name", e.name, having[0].type->name,
                     having[1].type->name, record.name));
    return false;
  }
  if (having.empty() || having[0].through.size() > kDeepest) return true;
  for (const VirtualBase* base : having[0].through)
    if (base->slot == 0) return true;
  e.field = having[0].type->find(e.name);
  e.through = having[0].through;
  return true;
}

// The pointer p of p->m, or of p[i].m. Null: the structure is no such object. Takes it out of the node.
ExprPtr take_pointer(ExprContext& c, Member& e, Translator*& translator) {
  auto* element = as<Index>(e.base.get());
  if (!e.arrow && (!element || !is_record(e.base->type) || element->arguments.size() != 1)) return nullptr;
  const Type* pointer = e.arrow ? e.base->type : element->base->type;
  if (!is_pointer(pointer)) return nullptr;
  translator = c.session.translators.find_exact(target_of(pointer), pointer);
  if (!translator || e.arrow) return translator ? std::move(e.base) : nullptr;
  auto sum = std::make_unique<Binary>(e.where);
  sum->left = std::move(element->base), sum->right = std::move(element->arguments[0]);
  sum->type = pointer;
  return sum;
}

// A translator from a pointer to what it points to makes the pointer a token: no object is in memory, and each member is
// computed.
std::unique_ptr<Translate> as_token(ExprContext& c, Member& e) {
  Translator* translator = nullptr;
  ExprPtr pointer = take_pointer(c, e, translator);
  if (!pointer) return nullptr;
  auto translate = std::make_unique<Translate>(e.where);
  translate->type = pointer->type, translate->translator = translator;
  translate->operand = std::move(pointer);
  return translate;
}

// The translation that is the value of assignments and an expression: (a, b), with b being one. Null: there is none.
ExprPtr* translation_in(ExprPtr& e) {
  auto* comma = as<Comma>(e.get());
  if (!comma) return nullptr;
  return as<Translate>(comma->second.get()) ? &comma->second : translation_in(comma->second);
}

// Types of commas are those of their last expressions.
void retype(Expr& e) {
  auto* comma = as<Comma>(&e);
  if (!comma) return;
  retype(*comma->second);
  comma->type = comma->second->type;
}

// (a, b).m is (a, b.m): the other members of b are not computed.
ExprPtr member_behind(ExprContext& c, Member& e, ExprPtr& translation) {
  ExprPtr all = std::move(e.base);
  auto member = std::make_unique<Member>(e.where);
  member->name = e.name, member->arrow = e.arrow;
  member->base = std::move(translation);
  auto& of = static_cast<Translate&>(*member->base);
  translation = of.translator ? translated_member(c, *member, of) : assembled_member(c, *member, of);
  if (!translation) translation = std::move(member);
  retype(*all);
  return all;
}

}  // namespace

ExprPtr check(ExprContext& c, Member& e) {
  check(c, e.base);
  if (is_error(e.base->type)) {
    fail(c, e);
    return nullptr;
  }
  if (c.session.options.see_selected) c.session.options.see_selected(*e.base->type);
  if (auto* translated = as<Translate>(e.base.get()); translated && e.arrow == is_pointer(translated->type))
    return translated->translator ? translated_member(c, e, *translated) : assembled_member(c, e, *translated);
  if (ExprPtr* inner = translation_in(e.base); inner && e.arrow == is_pointer((*inner)->type)) return member_behind(c, e, *inner);
  if (auto token = as_token(c, e)) return translated_member(c, e, *token);
  const std::string_view op = e.arrow ? "->" : ".";
  const Type* record = e.base->type;
  if (e.arrow && !is_pointer(record)) {
    fail(c, e, Tag::D_OP_PTR, "operator -> must be applied to a pointer",
         is_record(record) ? std::vector<std::string>{"did you mean '.'?"} : std::vector<std::string>{});
    return nullptr;
  }
  if (e.arrow) record = target_of(record);
  if (!is_record(record)) {
    const char* message =
        e.arrow ? "operator -> cannot be applied to pointer to type \"{}\"; must be applied to a struct or union pointer"
                : "operator . cannot be applied to type \"{}\"; must be applied to a struct or union";
    fail(c, e, Tag::D_OP_SOU, fmt::format(fmt::runtime(message), record->name));
    return nullptr;
  }
  if (!c.session.is_defined(record)) {
    incomplete(c, e, op, record);
    return nullptr;
  }
  e.field = resolve(*record).find(e.name);
  e.through.clear();
  if (!e.field && (e.arrow || e.base->is_user) && !find_in_virtual_bases(c, e, *record)) return nullptr;
  if (!e.field) {
    fail(c, e, Tag::D_TYPE_MEMBER, fmt::format("{} is not a member of {}", e.name, record->name), member_hints(*record, e.name));
    return nullptr;
  }
  e.type = e.field->type;
  e.is_lvalue = e.arrow || e.base->is_lvalue;
  e.is_user = e.base->is_user;
  return nullptr;
}

}  // namespace dvm::compiler
