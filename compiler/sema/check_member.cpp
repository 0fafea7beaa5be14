// Members of structures and unions. Tests: tests/golden/sema.
#include "compiler/sema/check_member.h"

#include <fmt/format.h>

#include "compiler/sema/check_expr.h"
#include "compiler/sema/translate.h"
#include "compiler/sema/typed_argument.h"

namespace dvm::compiler {

namespace {

// Null: there is no such member, or its place is not known.
const Field* find_in_virtual_bases(const Type& record, const std::string& name, std::vector<const VirtualBase*>& through) {
  constexpr size_t kDeepest = 16;
  for (const VirtualBase& base : resolve(record).virtual_bases) {
    if (base.slot == 0 || through.size() >= kDeepest) continue;
    through.push_back(&base);
    const Field* field = resolve(*base.type).find(name);
    if (!field) field = find_in_virtual_bases(*base.type, name, through);
    if (field) return field;
    through.pop_back();
  }
  return nullptr;
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
  if (!e.field && (e.arrow || e.base->is_user)) e.field = find_in_virtual_bases(*record, e.name, e.through);
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
