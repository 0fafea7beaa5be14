// Conditions as branches, and their values where they are needed. Tests: tests/golden/lower (tst.conditional.d, tst.predicate.d).
#include <algorithm>

#include "compiler/lower/expr_lowering.h"
#include "compiler/lower/operators.h"

namespace dvm::compiler {

using dif::Opcode;

namespace {

const ComparisonOpcodes* comparison_of(const Expr& e) {
  const auto* binary = as<Binary>(&e);
  if (!binary) return nullptr;
  const auto* row = std::find_if(kComparisons.begin(), kComparisons.end(), [&](const auto& r) { return r.op == binary->op; });
  return row == kComparisons.end() ? nullptr : row;
}

}  // namespace

// Sets the condition codes; says whether they are to be read with a sign.
bool ExprLowering::compare(const Binary& e) {
  const bool strings =
      is_string_like(e.left->type) && is_string_like(e.right->type) && (is_string(e.left->type) || is_string(e.right->type));
  const bool integers = !strings && is_integer(e.left->type) && is_integer(e.right->type);
  const Pair operands = lower_pair(*e.left, *e.right);
  out_.compare(strings ? Opcode::scmp : Opcode::cmp, operands.left, operands.right);
  return strings ||
         (integers && is_signed(types_.common(e.left->type, e.right->type)));  // strings compare signed, pointers do not
}

void ExprLowering::branch_if_comparison(const Binary& e, bool wanted, Label label) {
  const ComparisonOpcodes* row = comparison_of(e);
  const bool with_sign = compare(e);
  const Op op = wanted ? row->op : row->inverse;
  row = std::find_if(kComparisons.begin(), kComparisons.end(), [op](const auto& r) { return r.op == op; });
  out_.branch(with_sign ? row->with_sign : row->without, label);
}

// Branches if e is not 0 and that is wanted, or is 0 and that is not; else goes on.
void ExprLowering::branch_if(const Expr& e, bool wanted, Label label) {
  const auto* binary = as<Binary>(&e);
  if (comparison_of(e)) return branch_if_comparison(*binary, wanted, label);
  if (binary && (binary->op == Op::logical_and || binary->op == Op::logical_or)) {
    const bool decides = binary->op == Op::logical_or;  // the left operand alone, if it is so
    if (decides == wanted) {
      branch_if(*binary->left, wanted, label);
      return branch_if(*binary->right, wanted, label);
    }
    const Label skip = out_.make_label();
    branch_if(*binary->left, decides, skip);
    branch_if(*binary->right, wanted, label);
    return out_.place(skip);
  }
  if (const auto* unary = as<Unary>(&e); unary && unary->op == Op::logical_not) return branch_if(*unary->operand, !wanted, label);
  if (const auto* comma = as<Comma>(&e)) {
    lower_statement(*comma->first);
    return branch_if(*comma->second, wanted, label);
  }
  out_.test(number(e));
  out_.branch(wanted ? Opcode::bne : Opcode::be, label);
}

namespace {

// Its value is made by branches alone.
bool is_condition(const Expr& e) {
  const auto* unary = as<Unary>(&e);
  const auto* binary = as<Binary>(&e);
  return comparison_of(e) || (unary && unary->op == Op::logical_not) ||
         (binary && (binary->op == Op::logical_and || binary->op == Op::logical_or));
}

bool is_constant(const Expr& e) { return e.kind == ExprKind::Integer || e.kind == ExprKind::String; }

}  // namespace

// 1 or 0.
LoweredValue ExprLowering::truth(const Expr& e) {
  if (!is_condition(e)) return truth_of(number(e));
  const Register result = out_.fresh();
  const Label end = out_.make_label();
  out_.set_integer(1, result);
  branch_if(e, true, end);
  out_.move(0, result);
  out_.place(end);
  return {result};
}

// 1 if the register is not 0, else 0.
LoweredValue ExprLowering::truth_of(Register reg) {
  const Register result = out_.fresh();
  const Label end = out_.make_label();
  out_.move(reg, result);
  out_.test(result);
  out_.branch(Opcode::be, end);
  out_.set_integer(1, result);
  out_.place(end);
  return {result};
}

// !left != !right
LoweredValue ExprLowering::logical_xor(const Binary& e) {
  const LoweredValue left = truth(*e.left), right = truth(*e.right);
  return {out_.log(Opcode::xor_, left.reg, right.reg)};
}

// A constant is there before the condition is known, and stays if it is.
LoweredValue ExprLowering::conditional_constant(const Conditional& e, bool wanted) {
  const Label end = out_.make_label();
  const Register result = out_.fresh();
  const LoweredValue first = lower_number(wanted ? *e.then : *e.otherwise, e.type);
  out_.move(first.reg, result);
  branch_if(*e.condition, wanted, end);
  const LoweredValue other = lower_number(wanted ? *e.otherwise : *e.then, e.type);
  out_.move(other.reg, result);
  out_.place(end);
  return {result, std::max(first.held, other.held)};
}

LoweredValue ExprLowering::lower_node(const Conditional& e) {
  if (is_constant(*e.then)) return conditional_constant(e, true);
  if (is_constant(*e.otherwise)) return conditional_constant(e, false);
  const Label otherwise = out_.make_label(), end = out_.make_label();
  const Register result = out_.fresh();
  branch_if(*e.condition, false, otherwise);
  const LoweredValue first = lower_number(*e.then, e.type);
  out_.move(first.reg, result);
  out_.branch(Opcode::ba, end);
  out_.place(otherwise);
  const LoweredValue second = lower_number(*e.otherwise, e.type);
  out_.move(second.reg, result);
  out_.place(end);
  return {result, std::max(first.held, second.held)};
}

}  // namespace dvm::compiler
