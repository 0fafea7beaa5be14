// Arithmetic and conversions. Tests: tests/golden/lower.
#include <algorithm>

#include "compiler/ast/visitor.h"
#include "compiler/lower/expr_lowering.h"
#include "compiler/lower/operators.h"
#include "compiler/sema/fold_constants.h"

namespace dvm::compiler {

using dif::Opcode;

LoweredValue ExprLowering::lower(const Expr& e) {
  return visit(e, [this](const auto& node) { return lower_node(node); });
}

// Sign- or zero-extends the low bytes.
void ExprLowering::cut(LoweredValue& v, const Type* type) {
  const Type& t = resolve(*type);
  if (v.held == Held::fitting || !is_scalar(type) || t.size >= 8) return;
  const unsigned bits = 64 - static_cast<unsigned>(t.size) * 8;
  if (t.is_signed)
    v.reg = shift_by(Opcode::sra, shift_by(Opcode::sll, v.reg, bits), bits);
  else
    v.reg = out_.log(Opcode::and_, v.reg, out_.integer((uint64_t{1} << t.size * 8) - 1));
  v.held = Held::fitting;
}

Register ExprLowering::fitting(const Expr& e) {
  LoweredValue v = lower(e);
  cut(v, e.type);
  return v.reg;
}

Register ExprLowering::number(const Expr& e) {
  LoweredValue v = lower(e);
  if (v.held == Held::low) cut(v, e.type);
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

// The value with the low bytes that `type` has.
LoweredValue ExprLowering::lower_low(const Expr& e, const Type* type) {
  const Type &from = resolve(*e.type), &to = resolve(*type);
  if (to.is_bool && !from.is_bool && is_scalar(e.type)) {
    const auto* constant = as<Integer>(&e);
    return constant ? LoweredValue{out_.integer(constant->value != 0)} : truth(e);
  }
  LoweredValue v = lower(e);
  if (!is_scalar(e.type) || !is_scalar(type)) return v;
  if (v.held == Held::low && from.size < to.size) cut(v, e.type);
  const bool fits = to.size >= 8 || (v.held == Held::fitting && holds_all(type, e.type));
  v.held = fits ? Held::fitting : Held::low;
  return v;
}

Register ExprLowering::lower_as(const Expr& e, const Type* type) {
  LoweredValue v = lower_low(e, type);
  cut(v, type);
  return v.reg;
}

// The unconverted value, for an expression of another type.
LoweredValue ExprLowering::lower_number(const Expr& e, const Type* type) {
  LoweredValue v = lower(e);
  if (v.held == Held::low) cut(v, e.type);
  if (!is_wide(type) && !holds_all(type, e.type)) v.held = Held::number;
  return v;
}

LoweredValue ExprLowering::lower_node(const Integer& e) {
  return {out_.integer(e.value), wrap(e.value, e.type) == e.value ? Held::fitting : Held::number};
}

LoweredValue ExprLowering::lower_node(const Comma& e) {
  lower_statement(*e.first);
  return lower(*e.second);
}

LoweredValue ExprLowering::lower_node(const Cast& e) {
  if (reads_string(e)) return copy_in_string(*e.operand);
  return is_void(e.type) ? lower(*e.operand) : lower_low(*e.operand, e.type);
}

LoweredValue ExprLowering::lower_node(const Unary& e) {
  switch (e.op) {
    case Op::increment:
    case Op::decrement:
      return step(*e.operand, e.op, false);
    case Op::address_of:
      return {address_of(*e.operand)};
    case Op::dereference:
      return load_memory(number(*e.operand), e.type, e.is_user);
    case Op::logical_not:
      return truth(e);
    case Op::complement: {
      const LoweredValue v = lower_number(*e.operand, e.type);
      const bool fits = is_wide(e.type) || (is_signed(e.type) && v.held == Held::fitting);
      return {out_.unary(Opcode::not_, v.reg), fits ? Held::fitting : Held::number};
    }
    case Op::minus:
      return {out_.log(Opcode::sub, 0, number(*e.operand)), is_wide(e.type) ? Held::fitting : Held::number};
    default:
      return lower_number(*e.operand, e.type);
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

// Both operands. The one that takes more registers comes first where the order has no effect.
ExprLowering::Pair ExprLowering::lower_pair(const Expr& left, const Expr& right) {
  const bool is_leaf = right.kind == ExprKind::Integer || right.kind == ExprKind::Identifier || right.kind == ExprKind::Scoped;
  Pair pair{};
  if (!is_leaf && is_calm(left) && is_calm(right) && registers_needed(right) > registers_needed(left)) {
    pair.right = number(right);
    pair.left = number(left);
  } else {
    pair.left = number(left);
    pair.right = number(right);
  }
  return pair;
}

Register ExprLowering::binary_op(Op op, const Type* type, Register left, Register right) {
  const auto* row = std::find_if(kArithmetic.begin(), kArithmetic.end(), [op](const auto& r) { return r.op == op; });
  return out_.log(is_signed(type) ? row->with_sign : row->without, left, right);
}

// In 64 bits, with or without a sign as the type of the result has it.
LoweredValue ExprLowering::arithmetic(const Binary& e) {
  const Pair operands = lower_pair(*e.left, *e.right);
  return {binary_op(e.op, e.type, operands.left, operands.right), is_wide(e.type) ? Held::fitting : Held::number};
}

// An index times the size of what it steps over.
Register ExprLowering::scale(Register reg, uint64_t size) {
  if (size <= 1) return reg;
  const bool power = (size & (size - 1)) == 0;
  return out_.log(power ? Opcode::sll : Opcode::mul, reg,
                  out_.integer(power ? static_cast<uint64_t>(__builtin_ctzll(size)) : size));
}

LoweredValue ExprLowering::additive_pointer(const Binary& e) {
  const bool pointer_first = is_pointer(e.left->type);
  const uint64_t size = resolve(*target_of((pointer_first ? e.left : e.right)->type)).size;
  const Pair operands = lower_pair(*e.left, *e.right);
  const Register left = pointer_first ? operands.left : scale(operands.left, size);
  const Register right = pointer_first ? scale(operands.right, size) : operands.right;
  return {out_.log(e.op == Op::add ? Opcode::add : Opcode::sub, left, right)};
}

LoweredValue ExprLowering::pointer_difference(const Binary& e) {
  const Pair operands = lower_pair(*e.left, *e.right);
  const Register bytes = out_.log(Opcode::sub, operands.left, operands.right);
  const uint64_t size = resolve(*target_of(e.left->type)).size;
  return {size > 1 ? out_.log(Opcode::sdiv, bytes, out_.integer(size)) : bytes};
}

LoweredValue ExprLowering::lower_node(const Binary& e) {
  switch (e.op) {
    case Op::logical_xor:
      return logical_xor(e);
    case Op::logical_and:
    case Op::logical_or:
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
    case Op::equal:
    case Op::not_equal:
      return truth(e);
    default:
      break;
  }
  if (is_pointer(e.left->type) && is_pointer(e.right->type)) return pointer_difference(e);
  if (is_pointer(e.left->type) || is_pointer(e.right->type)) return additive_pointer(e);
  return arithmetic(e);
}

}  // namespace dvm::compiler
