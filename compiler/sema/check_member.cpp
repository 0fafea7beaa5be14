// Members of structures and unions. Tests: tests/golden/sema.
#include "compiler/sema/check_member.h"

#include <fmt/format.h>

#include "compiler/sema/check_expr.h"
#include "compiler/sema/translate.h"
#include "compiler/sema/typed_argument.h"

namespace dvm::compiler {

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
