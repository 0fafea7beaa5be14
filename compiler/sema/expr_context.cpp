// Shared by the checks of all expressions. Tests: tests/golden/sema.
#include "compiler/sema/expr_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/similar.h"

namespace dvm::compiler {

void fail(ExprContext& c, Expr& e, Tag tag, std::string message, std::vector<std::string> hints) {
  c.session.error(tag, e.where, std::move(message), std::move(hints));
  fail(c, e);
}

void fail_once(ExprContext& c, Expr& e, Tag tag, std::string message, std::vector<std::string> hints) {
  if (!c.session.is_new_lack(message)) return fail(c, e);
  fail(c, e, tag, std::move(message), std::move(hints));
}

bool has_error(const std::vector<ExprPtr>& list) {
  return std::any_of(list.begin(), list.end(), [](const ExprPtr& e) { return is_error(e->type); });
}

bool constant(const Expr& e, int64_t& value) {
  const auto* integer = as<Integer>(&e);
  if (!integer || !is_integer(integer->type)) return false;
  value = static_cast<int64_t>(integer->value);
  return true;
}

bool is_stable_enough(ExprContext& c, Expr& e, const std::string& what, const dif::Attributes& attributes) {
  c.session.statements = least(c.session.statements, attributes);
  if (attributes.reaches(c.session.options.minimum)) return true;
  fail(c, e, Tag::D_ATTR_MIN,
       fmt::format("attributes for {} ({}) are less than predefined minimum", what, dif::print(attributes)),
       {fmt::format("-x amin requires {}", dif::print(c.session.options.minimum))});
  return false;
}

void incomplete(ExprContext& c, Expr& e, std::string_view op, const Type* type) {
  fail(c, e, Tag::D_OP_INCOMPLETE,
       fmt::format("operator {} cannot be applied to a forward declaration: no {} definition is available", op, type->name),
       c.session.missing_hints(type));
}

std::vector<std::string> member_hints(const Type& record, std::string_view name) {
  std::vector<std::string_view> names;
  for (const VirtualBase& base : resolve(record).virtual_bases)
    if (resolve(*base.type).find(name))
      return {fmt::format("it is a member of {}, a virtual base, which is found only in the program's memory", base.type->name)};
  for (const Field& f : resolve(record).fields) names.push_back(f.name);
  return near_hints(name, names);
}

}  // namespace dvm::compiler
