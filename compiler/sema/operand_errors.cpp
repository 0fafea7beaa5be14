// Wrong operands. Tests: tests/golden/sema (err.D_OP_*.d).
#include "compiler/sema/operand_errors.h"

#include <fmt/format.h>

#include "compiler/sema/compatible.h"

namespace dvm::compiler {

namespace {

std::vector<std::string> floating_hint(const Type* left, const Type* right) {
  for (const Type* t : {left, right})
    if (t && is_floating(t)) return {fmt::format("D computes only with integers: a {} can be declared and copied", t->name)};
  return {};
}

}  // namespace

bool require(ExprContext& c, bool condition, Expr& e, Tag tag, const char* format, std::string_view op) {
  const auto* binary = as<Binary>(&e);
  const auto* unary = as<Unary>(&e);
  if (!condition)
    fail(c, e, tag, fmt::format(fmt::runtime(format), op),
         floating_hint(binary  ? binary->left->type
                       : unary ? unary->operand->type
                               : nullptr,
                       binary ? binary->right->type : nullptr));
  return condition;
}

void incompatible(ExprContext& c, Expr& e, const Expr& left, std::string_view op, const Expr& right) {
  std::vector<std::string> hints = floating_hint(left.type, right.type);
  for (const Expr* side : {&left, &right}) {
    const Expr* other = side == &left ? &right : &left;
    if (is_address(side->type) && is_integer(other->type) && cls(side->type) == TypeClass::pointer)
      hints.push_back(is_void_or_function_pointer(side->type) && (op == "+" || op == "-")
                          ? fmt::format("the pointer's target has no size, cast it: (char *)pointer {} n", op)
                          : fmt::format("cast the integer to a pointer: ({})", side->type->name));
  }
  fail(c, e, Tag::D_OP_INCOMPAT,
       fmt::format("operands have incompatible types: \"{}\" {} \"{}\"", left.type->name, op, right.type->name),
       std::move(hints));
}

bool is_dynamic(ExprContext& c, Expr& e, const Expr& first, const Expr& second, std::string_view op) {
  if (first.kind != ExprKind::Aggregation && second.kind != ExprKind::Aggregation) return false;
  fail(c, e, Tag::D_OP_DYN, fmt::format("operator {} operands cannot be of dynamic type", op));
  return true;
}

}  // namespace dvm::compiler
