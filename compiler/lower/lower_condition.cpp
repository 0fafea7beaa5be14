// Conditions as branches, and their values where they are needed. Tests: tests/golden/lower (tst.conditional.d, tst.predicate.d).
#include <algorithm>

#include "compiler/lower/expr_lowering.h"
#include "compiler/lower/operators.h"

namespace dvm::compiler {

using dif::Opcode;

namespace {

const ComparisonOpcodes* comparison_row(const Expr& e) {
  const auto* binary = as<Binary>(&e);
  if (!binary) return nullptr;
  const auto* row = std::find_if(kComparisons.begin(), kComparisons.end(), [&](const auto& r) { return r.op == binary->op; });
  return row == kComparisons.end() ? nullptr : row;
}

// Sets the condition codes; says whether they are to be read with a sign.
bool compare_operands(ExprLowering& c, const Binary& e) {
  const bool strings =
      is_string_like(e.left->type) && is_string_like(e.right->type) && (is_string(e.left->type) || is_string(e.right->type));
  const bool integers = !strings && is_integer(e.left->type) && is_integer(e.right->type);
  const OperandPair operands = lower_pair(c, *e.left, *e.right);
  c.out.compare(strings ? Opcode::scmp : Opcode::cmp, operands.left, operands.right);
  return strings ||
         (integers && is_signed(c.types.common(e.left->type, e.right->type)));  // strings compare signed, pointers do not
}

void branch_if_comparison(ExprLowering& c, const Binary& e, bool wanted, CodeLabel label) {
  const ComparisonOpcodes* row = comparison_row(e);
  const bool with_sign = compare_operands(c, e);
  const Op op = wanted ? row->op : row->inverse;
  c.out.branch(branch_of(op, with_sign), label);
}

// Its value is made by branches alone.
bool is_condition(const Expr& e) {
  const auto* unary = as<Unary>(&e);
  const auto* binary = as<Binary>(&e);
  return comparison_row(e) || (unary && unary->op == Op::logical_not) ||
         (binary && (binary->op == Op::logical_and || binary->op == Op::logical_or));
}

bool is_constant(const Expr& e) { return e.kind == ExprKind::Integer || e.kind == ExprKind::String; }

// Branches if e is not 0 and that is wanted, or is 0 and that is not; else goes on.
void branch_if(ExprLowering& c, const Expr& e, bool wanted, CodeLabel label) {
  const auto* binary = as<Binary>(&e);
  if (comparison_row(e)) return branch_if_comparison(c, *binary, wanted, label);
  if (binary && (binary->op == Op::logical_and || binary->op == Op::logical_or)) {
    const bool decides = binary->op == Op::logical_or;  // the left operand alone, if it is so
    if (decides == wanted) {
      branch_if(c, *binary->left, wanted, label);
      return branch_if(c, *binary->right, wanted, label);
    }
    const CodeLabel skip = c.out.make_label();
    branch_if(c, *binary->left, decides, skip);
    branch_if(c, *binary->right, wanted, label);
    return c.out.place(skip);
  }
  if (const auto* unary = as<Unary>(&e); unary && unary->op == Op::logical_not)
    return branch_if(c, *unary->operand, !wanted, label);
  if (const auto* comma = as<Comma>(&e)) {
    lower_statement(c, *comma->first);
    return branch_if(c, *comma->second, wanted, label);
  }
  c.out.test(lower_uncut(c, e));
  c.out.branch(branch_of(wanted ? Op::not_equal : Op::equal), label);
}

}  // namespace

// 1 or 0.
LoweredValue truth(ExprLowering& c, const Expr& e) {
  if (!is_condition(e)) return truth_of(c, lower_uncut(c, e));
  const VirtualRegister result = c.out.fresh();
  const CodeLabel end = c.out.make_label();
  c.out.set_integer(1, result);
  branch_if(c, e, true, end);
  c.out.move(0, result);
  c.out.place(end);
  return {result};
}

LoweredValue truth_of(ExprLowering& c, VirtualRegister reg) {
  const VirtualRegister result = c.out.fresh();
  const CodeLabel end = c.out.make_label();
  c.out.move(reg, result);
  c.out.test(result);
  c.out.branch(branch_of(Op::equal), end);
  c.out.set_integer(1, result);
  c.out.place(end);
  return {result};
}

LoweredValue logical_xor(ExprLowering& c, const Binary& e) {
  const LoweredValue left = truth(c, *e.left), right = truth(c, *e.right);
  return {compute(c, Op::bit_xor, left.reg, right.reg)};
}

namespace {

// A constant is there before the condition is known, and stays if it is.
LoweredValue conditional_constant(ExprLowering& c, const Conditional& e, bool wanted) {
  const CodeLabel end = c.out.make_label();
  const VirtualRegister result = c.out.fresh();
  const LoweredValue first = lower_number(c, wanted ? *e.then : *e.otherwise, e.type);
  c.out.move(first.reg, result);
  branch_if(c, *e.condition, wanted, end);
  const LoweredValue other = lower_number(c, wanted ? *e.otherwise : *e.then, e.type);
  c.out.move(other.reg, result);
  c.out.place(end);
  return {result, std::max(first.held, other.held)};
}

}  // namespace

LoweredValue lower_node(ExprLowering& c, const Conditional& e) {
  if (is_constant(*e.then)) return conditional_constant(c, e, true);
  if (is_constant(*e.otherwise)) return conditional_constant(c, e, false);
  const CodeLabel otherwise = c.out.make_label(), end = c.out.make_label();
  const VirtualRegister result = c.out.fresh();
  branch_if(c, *e.condition, false, otherwise);
  const LoweredValue first = lower_number(c, *e.then, e.type);
  c.out.move(first.reg, result);
  c.out.jump(end);
  c.out.place(otherwise);
  const LoweredValue second = lower_number(c, *e.otherwise, e.type);
  c.out.move(second.reg, result);
  c.out.place(end);
  return {result, std::max(first.held, second.held)};
}

}  // namespace dvm::compiler
