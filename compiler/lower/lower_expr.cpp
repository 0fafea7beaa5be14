// Arithmetic and conversions. Tests: tests/golden/lower.
#include <algorithm>

#include "compiler/ast/visitor.h"
#include "compiler/lower/expr_lowering.h"
#include "compiler/lower/operators.h"
#include "compiler/sema/fold_constants.h"

namespace dvm::compiler {

namespace {

// The checker has replaced these by their values.
LoweredValue lower_node(ExprLowering&, const Macro&) { return {}; }
LoweredValue lower_node(ExprLowering&, const Aggregation&) { return {}; }
LoweredValue lower_node(ExprLowering&, const SizeofType&) { return {}; }
LoweredValue lower_node(ExprLowering&, const SizeofValue&) { return {}; }
LoweredValue lower_node(ExprLowering&, const OffsetOf&) { return {}; }

}  // namespace

LoweredValue lower(ExprLowering& c, const Expr& e) {
  return visit(e, [&c](const auto& node) { return lower_node(c, node); });
}

namespace {

// Sign- or zero-extends the low bytes.
void cut(ExprLowering& c, LoweredValue& v, const Type* type) {
  const Type& t = resolve(*type);
  if (v.held == Held::fitting || !is_scalar(type) || t.size >= 8) return;
  const unsigned bits = 64 - static_cast<unsigned>(t.size) * 8;
  if (t.is_signed)
    v.reg = shift_by(c, Op::shift_right, shift_by(c, Op::shift_left, v.reg, bits), bits, true);
  else
    v.reg = compute(c, Op::bit_and, v.reg, c.out.integer((uint64_t{1} << t.size * 8) - 1));
  v.held = Held::fitting;
}

}  // namespace

VirtualRegister lower_fitting(ExprLowering& c, const Expr& e) {
  LoweredValue v = lower(c, e);
  cut(c, v, e.type);
  return v.reg;
}

VirtualRegister lower_uncut(ExprLowering& c, const Expr& e) {
  LoweredValue v = lower(c, e);
  if (v.held == Held::low) cut(c, v, e.type);
  return v.reg;
}

namespace {

bool is_wide(const Type* type) { return !is_scalar(type) || resolve(*type).size >= 8; }

// Every value of the one type is one of the other.
bool holds_all(const Type* to, const Type* from) {
  const Type &t = resolve(*to), &f = resolve(*from);
  return t.size == f.size ? t.is_signed == f.is_signed : t.size > f.size && (!f.is_signed || t.is_signed);
}

}  // namespace

LoweredValue lower_low(ExprLowering& c, const Expr& e, const Type* type) {
  const Type &from = resolve(*e.type), &to = resolve(*type);
  if (to.is_bool && !from.is_bool && is_scalar(e.type)) {
    const auto* constant = as<Integer>(&e);
    return constant ? LoweredValue{c.out.integer(constant->value != 0)} : truth(c, e);
  }
  LoweredValue v = lower(c, e);
  if (!is_scalar(e.type) || !is_scalar(type)) return v;
  if (v.held == Held::low && from.size < to.size) cut(c, v, e.type);
  const bool fits = to.size >= 8 || (v.held == Held::fitting && holds_all(type, e.type));
  v.held = fits ? Held::fitting : Held::low;
  return v;
}

VirtualRegister lower_as(ExprLowering& c, const Expr& e, const Type* type) {
  LoweredValue v = lower_low(c, e, type);
  cut(c, v, type);
  return v.reg;
}

LoweredValue lower_number(ExprLowering& c, const Expr& e, const Type* type) {
  LoweredValue v = lower(c, e);
  if (v.held == Held::low) cut(c, v, e.type);
  if (!is_wide(type) && !holds_all(type, e.type)) v.held = Held::number;
  return v;
}

LoweredValue lower_node(ExprLowering& c, const String& e) { return {c.out.string(e.value)}; }

LoweredValue lower_node(ExprLowering& c, const Integer& e) {
  return {c.out.integer(e.value), wrap(e.value, e.type) == e.value ? Held::fitting : Held::number};
}

LoweredValue lower_node(ExprLowering& c, const Comma& e) {
  lower_statement(c, *e.first);
  return lower(c, *e.second);
}

LoweredValue lower_node(ExprLowering& c, const Cast& e) {
  if (reads_string(e)) return copy_in_string(c, *e.operand);
  return is_void(e.type) ? lower(c, *e.operand) : lower_low(c, *e.operand, e.type);
}

LoweredValue lower_node(ExprLowering& c, const Unary& e) {
  switch (e.op) {
    case Op::increment:
    case Op::decrement:
      return step(c, *e.operand, e.op, false);
    case Op::address_of:
      return {address_of(c, *e.operand)};
    case Op::dereference:
      return load_memory(c, lower_uncut(c, *e.operand), e.type, e.is_user);
    case Op::logical_not:
      return truth(c, e);
    case Op::complement: {
      const LoweredValue v = lower_number(c, *e.operand, e.type);
      const bool fits = is_wide(e.type) || (is_signed(e.type) && v.held == Held::fitting);
      return {c.out.unary(opcode_of(Op::complement), v.reg), fits ? Held::fitting : Held::number};
    }
    case Op::minus:
      return {compute(c, Op::subtract, 0, lower_uncut(c, *e.operand)), is_wide(e.type) ? Held::fitting : Held::number};
    default:
      return lower_number(c, *e.operand, e.type);
  }
}

namespace {

bool is_calm_operation(const Expr& e) {
  switch (e.kind) {
    case ExprKind::Unary: {
      const Op op = static_cast<const Unary&>(e).op;
      return op == Op::plus || op == Op::minus || op == Op::complement || op == Op::logical_not;
    }
    case ExprKind::Binary: {
      const auto& binary = static_cast<const Binary&>(e);
      if (is_string_like(binary.left->type)) return false;  // reads memory
      return binary.op != Op::divide && binary.op != Op::remainder;
    }
    case ExprKind::Integer:
    case ExprKind::String:
    case ExprKind::Identifier:
    case ExprKind::Scoped:
    case ExprKind::Cast:
    case ExprKind::Conditional:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool is_calm(const Expr& e) {
  bool calm = is_calm_operation(e);
  for_each_child(const_cast<Expr&>(e), [&](ExprPtr& child) { calm = calm && is_calm(*child); });
  return calm;
}

unsigned registers_needed(const Expr& e) {
  unsigned needed = 0, held = 0;
  for_each_child(const_cast<Expr&>(e), [&](ExprPtr& child) {
    const unsigned n = registers_needed(*child);
    needed = n == needed ? n + 1 : std::max(n, needed);
    held++;
  });
  return std::max(needed, std::max(held, 1u));
}

OperandPair lower_pair(ExprLowering& c, const Expr& left, const Expr& right) {
  const bool is_leaf = right.kind == ExprKind::Integer || right.kind == ExprKind::Identifier || right.kind == ExprKind::Scoped;
  OperandPair pair{};
  if (!is_leaf && is_calm(left) && is_calm(right) && registers_needed(right) > registers_needed(left)) {
    pair.right = lower_uncut(c, right);
    pair.left = lower_uncut(c, left);
  } else {
    pair.left = lower_uncut(c, left);
    pair.right = lower_uncut(c, right);
  }
  return pair;
}

VirtualRegister compute(ExprLowering& c, Op op, VirtualRegister left, VirtualRegister right, bool with_sign) {
  return c.out.log(opcode_of(op, with_sign), left, right);
}

VirtualRegister scale(ExprLowering& c, VirtualRegister reg, uint64_t size) {
  if (size <= 1) return reg;
  const bool power = (size & (size - 1)) == 0;
  return compute(c, power ? Op::shift_left : Op::multiply, reg,
                 c.out.integer(power ? static_cast<uint64_t>(__builtin_ctzll(size)) : size));
}

namespace {

// In 64 bits, with or without a sign as the type of the result has it.
LoweredValue arithmetic(ExprLowering& c, const Binary& e) {
  const OperandPair operands = lower_pair(c, *e.left, *e.right);
  return {compute(c, e.op, operands.left, operands.right, is_signed(e.type)), is_wide(e.type) ? Held::fitting : Held::number};
}

LoweredValue additive_pointer(ExprLowering& c, const Binary& e) {
  const bool pointer_first = is_pointer(e.left->type);
  const uint64_t size = resolve(*target_of((pointer_first ? e.left : e.right)->type)).size;
  const OperandPair operands = lower_pair(c, *e.left, *e.right);
  const VirtualRegister left = pointer_first ? operands.left : scale(c, operands.left, size);
  const VirtualRegister right = pointer_first ? scale(c, operands.right, size) : operands.right;
  return {compute(c, e.op, left, right)};
}

LoweredValue pointer_difference(ExprLowering& c, const Binary& e) {
  const OperandPair operands = lower_pair(c, *e.left, *e.right);
  const VirtualRegister bytes = compute(c, Op::subtract, operands.left, operands.right);
  const uint64_t size = resolve(*target_of(e.left->type)).size;
  return {size > 1 ? compute(c, Op::divide, bytes, c.out.integer(size), true) : bytes};
}

}  // namespace

LoweredValue lower_node(ExprLowering& c, const Binary& e) {
  switch (e.op) {
    case Op::logical_xor:
      return logical_xor(c, e);
    case Op::logical_and:
    case Op::logical_or:
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
    case Op::equal:
    case Op::not_equal:
      return truth(c, e);
    default:
      break;
  }
  if (is_pointer(e.left->type) && is_pointer(e.right->type)) return pointer_difference(c, e);
  if (is_pointer(e.left->type) || is_pointer(e.right->type)) return additive_pointer(c, e);
  return arithmetic(c, e);
}

}  // namespace dvm::compiler
