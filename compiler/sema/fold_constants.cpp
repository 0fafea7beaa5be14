// Arithmetic of constants, in 64 bits. Tests: tests/unit/compiler/run_test.cpp.
#include "compiler/sema/fold_constants.h"

#include <optional>

namespace dvm::compiler {

namespace {

struct ConstantOperands {
  uint64_t l, r;
  bool is_signed;
};

template <class Compare>
uint64_t compare(const ConstantOperands& o, Compare less) {
  return o.is_signed ? less(static_cast<int64_t>(o.l), static_cast<int64_t>(o.r)) : less(o.l, o.r);
}

uint64_t divide(const ConstantOperands& o, bool remainder) {
  if (!o.is_signed) return remainder ? o.l % o.r : o.l / o.r;
  if (o.r == UINT64_MAX) return remainder ? 0 : 0 - o.l;  // INT64_MIN / -1 overflows
  const auto l = static_cast<int64_t>(o.l), r = static_cast<int64_t>(o.r);
  return static_cast<uint64_t>(remainder ? l % r : l / r);
}

uint64_t evaluate(Op op, const ConstantOperands& o) {
  switch (op) {
    case Op::add:
      return o.l + o.r;
    case Op::subtract:
      return o.l - o.r;
    case Op::multiply:
      return o.l * o.r;
    case Op::divide:
      return divide(o, false);
    case Op::remainder:
      return divide(o, true);
    case Op::bit_and:
      return o.l & o.r;
    case Op::bit_or:
      return o.l | o.r;
    case Op::bit_xor:
      return o.l ^ o.r;
    case Op::shift_left:
      return o.l << (o.r & 63);
    case Op::shift_right:
      return o.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(o.l) >> (o.r & 63)) : o.l >> (o.r & 63);
    case Op::less:
      return compare(o, [](auto a, auto b) { return a < b; });
    case Op::less_equal:
      return compare(o, [](auto a, auto b) { return a <= b; });
    case Op::greater:
      return compare(o, [](auto a, auto b) { return a > b; });
    case Op::greater_equal:
      return compare(o, [](auto a, auto b) { return a >= b; });
    case Op::equal:
      return o.l == o.r;
    case Op::not_equal:
      return o.l != o.r;
    case Op::logical_and:
      return o.l && o.r;
    case Op::logical_or:
      return o.l || o.r;
    case Op::logical_xor:
      return !o.l != !o.r;
    default:
      return 0;
  }
}

const Integer* constant(const ExprPtr& e) {
  const auto* integer = as<Integer>(e.get());
  return integer && is_integer(integer->type) ? integer : nullptr;
}

bool is_shift(Op op) { return op == Op::shift_left || op == Op::shift_right; }

}  // namespace

uint64_t wrap(uint64_t value, const Type* type) {
  const Type& t = resolve(*type);
  if (t.size == 0 || t.size >= 8) return value;
  if (t.name == "_Bool") return value != 0;
  const unsigned shift = 64 - static_cast<unsigned>(t.size) * 8;
  return t.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift) : value << shift >> shift;
}

uint64_t evaluate(Op op, uint64_t left, uint64_t right, bool is_signed) {
  return evaluate(op, ConstantOperands{left, right, is_signed});
}

ExprPtr make_integer(Location where, uint64_t value, const Type* type) {
  auto e = std::make_unique<Integer>(where);
  e->value = value;
  e->type = type;
  e->is_zero_constant = e->value == 0;
  return e;
}

ExprPtr fold(const Unary& e) {
  const Integer* operand = constant(e.operand);
  if (!operand) return nullptr;
  switch (e.op) {
    case Op::plus:
      return make_integer(e.where, operand->value, e.type);
    case Op::minus:
      return make_integer(e.where, 0 - operand->value, e.type);
    case Op::complement:
      return make_integer(e.where, ~operand->value, e.type);
    case Op::logical_not:
      return make_integer(e.where, operand->value == 0, e.type);
    default:
      return nullptr;
  }
}

ExprPtr fold(const Binary& e, Session& session) {
  const Integer *left = constant(e.left), *right = constant(e.right);
  if ((e.op == Op::divide || e.op == Op::remainder) && right && right->value == 0) {
    session.error(Tag::D_DIV_ZERO, e.right->where, "expression contains division by zero");
    return make_integer(e.where, 0, session.types.error());
  }
  if (!left || !right) return nullptr;
  const Type* in = is_shift(e.op) ? left->type : session.types.common(left->type, right->type);
  return make_integer(e.where, evaluate(e.op, left->value, right->value, is_signed(in)), e.type);
}

ExprPtr fold(const Cast& e) {
  const auto* operand = as<Integer>(e.operand.get());
  if (!operand || !is_scalar(e.type) || cls(e.type) == TypeClass::array) return nullptr;
  return make_integer(e.where, wrap(operand->value, e.type), e.type);
}

}  // namespace dvm::compiler
