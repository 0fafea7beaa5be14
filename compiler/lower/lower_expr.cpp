// Arithmetic, comparisons and conditions. Tests: tests/golden/lower.
#include <algorithm>

#include "compiler/ast/visitor.h"
#include "compiler/lower/expr_lowering.h"

namespace dvm::compiler {

using dif::Opcode;

Value ExprLowering::lower(const Expr& e) {
  return visit(e, [this](const auto& node) { return lower_node(node); });
}

void ExprLowering::shift_by(Opcode op, unsigned reg, unsigned count) {
  const unsigned by = out_.allocate();
  out_.set_integer(count, by);
  out_.log(op, reg, by, reg);
  out_.free(by);
}

// Sign- or zero-extends the low bytes.
void ExprLowering::normalize(Value& v, const Type* type) {
  const Type& t = resolve(*type);
  if (v.canonical || !is_scalar(type) || t.size >= 8) return;
  if (t.is_signed) {
    const unsigned bits = 64 - static_cast<unsigned>(t.size) * 8;
    const unsigned by = out_.allocate();
    out_.set_integer(bits, by);
    out_.log(Opcode::sll, v.reg, by, v.reg);
    out_.log(Opcode::sra, v.reg, by, v.reg);
    out_.free(by);
  } else {
    const unsigned mask = out_.allocate();
    out_.set_integer((uint64_t{1} << t.size * 8) - 1, mask);
    out_.log(Opcode::and_, v.reg, mask, v.reg);
    out_.free(mask);
  }
  v.canonical = true;
}

unsigned ExprLowering::canonical(const Expr& e) {
  Value v = lower(e);
  normalize(v, e.type);
  return v.reg;
}

unsigned ExprLowering::lower_as(const Expr& e, const Type* type) {
  Value v = lower(e);
  if (!is_scalar(e.type) || !is_scalar(type)) return v.reg;
  const Type &from = resolve(*e.type), &to = resolve(*type);
  if (to.is_bool && !from.is_bool) {
    normalize(v, e.type);
    return truth_of(v.reg);
  }
  const bool keeps = from.size < to.size && (!from.is_signed || to.is_signed);  // every value of the one is one of the other
  const bool same = from.size == to.size && from.is_signed == to.is_signed;
  if (to.size >= 8 || keeps || same) {
    normalize(v, e.type);
  } else {
    v.canonical = false;
    normalize(v, type);
  }
  return v.reg;
}

Value ExprLowering::lower_node(const Integer& e) {
  const unsigned reg = out_.allocate();
  out_.set_integer(e.value, reg);
  return {reg};
}

Value ExprLowering::lower_node(const String& e) {
  const unsigned reg = out_.allocate();
  out_.set_string(e.value, reg);
  return {reg};
}

Value ExprLowering::lower_node(const Comma& e) {
  lower_statement(*e.first);
  return lower(*e.second);
}

Value ExprLowering::lower_node(const Cast& e) {
  if (is_void(e.type)) return lower(*e.operand);
  return {lower_as(*e.operand, e.type)};
}

// Whether the register is not 0.
unsigned ExprLowering::truth_of(unsigned reg) {
  out_.test(reg);
  out_.free(reg);
  return truth(Opcode::bne).reg;
}

Value ExprLowering::lower_node(const Unary& e) {
  switch (e.op) {
    case Op::increment:
    case Op::decrement:
      return step(*e.operand, e.op, Wanted::after);
    case Op::address_of:
      return {address_of(*e.operand)};
    case Op::dereference:
      return load_memory(canonical(*e.operand), e.type);
    case Op::logical_not: {
      const unsigned reg = canonical(*e.operand);
      out_.test(reg);
      out_.free(reg);
      return truth(Opcode::be);
    }
    default:
      break;
  }
  Value v{lower_as(*e.operand, e.type), true};
  if (e.op == Op::complement) out_.unary(Opcode::not_, v.reg, v.reg);
  if (e.op == Op::minus) out_.log(Opcode::sub, 0, v.reg, v.reg);
  v.canonical = e.op == Op::plus || (e.op == Op::complement && is_signed(e.type));
  return v;
}

// 1 if the branch is taken with the condition codes as they are, else 0.
Value ExprLowering::truth(Opcode branch_if_true) {
  const Emitter::Label yes = out_.make_label(), end = out_.make_label();
  const unsigned reg = out_.allocate();
  out_.branch(branch_if_true, yes);
  out_.unary(Opcode::mov, 0, reg);
  out_.branch(Opcode::ba, end);
  out_.place(yes);
  out_.set_integer(1, reg);
  out_.place(end);
  return {reg};
}

void ExprLowering::test_branch(const Expr& e, Opcode op, Emitter::Label label) {
  const unsigned reg = canonical(e);
  out_.test(reg);
  out_.free(reg);
  out_.branch(op, label);
}

Value ExprLowering::short_circuit(const Binary& e) {
  const bool is_and = e.op == Op::logical_and;
  const Emitter::Label decided = out_.make_label(), end = out_.make_label();
  test_branch(*e.left, is_and ? Opcode::be : Opcode::bne, decided);
  test_branch(*e.right, is_and ? Opcode::be : Opcode::bne, decided);
  const unsigned reg = out_.allocate();
  if (is_and)
    out_.set_integer(1, reg);
  else
    out_.unary(Opcode::mov, 0, reg);
  out_.branch(Opcode::ba, end);
  out_.place(decided);
  if (is_and)
    out_.unary(Opcode::mov, 0, reg);
  else
    out_.set_integer(1, reg);
  out_.place(end);
  return {reg};
}

// !left != !right
Value ExprLowering::logical_xor(const Binary& e) {
  const unsigned left = truth_of(canonical(*e.left)), right = truth_of(canonical(*e.right));
  out_.log(Opcode::xor_, left, right, left);
  out_.free(right);
  return {left};
}

namespace {

struct Branches {
  Op op;
  Opcode with_sign, without;
};
constexpr Branches kBranches[] = {
    {Op::less, Opcode::bl, Opcode::blu},    {Op::less_equal, Opcode::ble, Opcode::bleu},
    {Op::greater, Opcode::bg, Opcode::bgu}, {Op::greater_equal, Opcode::bge, Opcode::bgeu},
    {Op::equal, Opcode::be, Opcode::be},    {Op::not_equal, Opcode::bne, Opcode::bne},
};

Opcode branch_of(Op op, bool with_sign) {
  for (const Branches& row : kBranches)
    if (row.op == op) return with_sign ? row.with_sign : row.without;
  return Opcode::be;
}

struct Arithmetic {
  Op op;
  Opcode with_sign, without;
};
constexpr Arithmetic kArithmetic[] = {
    {Op::add, Opcode::add, Opcode::add},         {Op::subtract, Opcode::sub, Opcode::sub},
    {Op::multiply, Opcode::mul, Opcode::mul},    {Op::divide, Opcode::sdiv, Opcode::udiv},
    {Op::remainder, Opcode::srem, Opcode::urem}, {Op::bit_and, Opcode::and_, Opcode::and_},
    {Op::bit_or, Opcode::or_, Opcode::or_},      {Op::bit_xor, Opcode::xor_, Opcode::xor_},
    {Op::shift_left, Opcode::sll, Opcode::sll},  {Op::shift_right, Opcode::sra, Opcode::srl},
};

// Results that stay in the range of their type when the operands were in it.
bool stays_canonical(Op op, const Type* type) {
  if (resolve(*type).size >= 8) return true;
  if (op == Op::divide) return !is_signed(type);  // INT_MIN / -1
  return op == Op::remainder || op == Op::bit_and || op == Op::bit_or || op == Op::bit_xor || op == Op::shift_right;
}

bool needs_range(Op op) { return op == Op::divide || op == Op::remainder || op == Op::shift_right; }

}  // namespace

void ExprLowering::binary_op(Op op, const Type* type, unsigned left, unsigned right) {
  for (const Arithmetic& row : kArithmetic)
    if (row.op == op) return out_.log(is_signed(type) ? row.with_sign : row.without, left, right, left);
}

Value ExprLowering::comparison(const Binary& e) {
  const bool strings =
      is_string_like(e.left->type) && is_string_like(e.right->type) && (is_string(e.left->type) || is_string(e.right->type));
  unsigned left = 0, right = 0;
  bool with_sign = true;
  if (!strings && is_integer(e.left->type) && is_integer(e.right->type)) {
    const Type* in = types_.common(e.left->type, e.right->type);
    left = lower_as(*e.left, in), right = lower_as(*e.right, in);
    with_sign = is_signed(in);
  } else {
    left = canonical(*e.left), right = canonical(*e.right);
    with_sign = strings;  // strings compare signed, pointers do not
  }
  out_.compare(strings ? Opcode::scmp : Opcode::cmp, left, right);
  out_.free(right);
  out_.free(left);
  return truth(branch_of(e.op, with_sign));
}

Value ExprLowering::arithmetic(const Binary& e) {
  const bool shift = e.op == Op::shift_left || e.op == Op::shift_right;
  const bool exact = needs_range(e.op) || resolve(*e.type).size >= 8;
  const auto operand = [&](const Expr& o, const Type* type) -> Value {
    if (exact) return {lower_as(o, type), true};
    Value v = lower(o);
    const bool fits = resolve(*o.type).size < resolve(*type).size || is_signed(o.type) == is_signed(type);
    if (!fits) v.canonical = false;
    if (resolve(*o.type).size < resolve(*type).size) normalize(v, o.type);
    if (is_signed(o.type) && !is_signed(type)) v.canonical = false;
    return v;
  };
  const Value left = operand(*e.left, e.type);
  const Value right = shift ? Value{canonical(*e.right), true} : operand(*e.right, e.type);
  binary_op(e.op, e.type, left.reg, right.reg);
  out_.free(right.reg);
  return {left.reg, stays_canonical(e.op, e.type) && left.canonical && right.canonical};
}

// Multiplies an index by the size of what it steps over.
void ExprLowering::scale(unsigned reg, uint64_t size) {
  if (size <= 1) return;
  const bool power = (size & (size - 1)) == 0;
  const unsigned by = out_.allocate();
  out_.set_integer(power ? static_cast<uint64_t>(__builtin_ctzll(size)) : size, by);
  out_.log(power ? Opcode::sll : Opcode::mul, reg, by, reg);
  out_.free(by);
}

Value ExprLowering::additive_pointer(const Binary& e) {
  const uint64_t size = resolve(*target_of(e.type)).size;
  const bool pointer_first = is_pointer(e.left->type);
  const unsigned left = canonical(*e.left);
  if (!pointer_first) scale(left, size);
  const unsigned right = canonical(*e.right);
  if (pointer_first) scale(right, size);
  out_.log(e.op == Op::add ? Opcode::add : Opcode::sub, left, right, left);
  out_.free(right);
  return {left};
}

Value ExprLowering::pointer_difference(const Binary& e) {
  const unsigned left = canonical(*e.left), right = canonical(*e.right);
  out_.log(Opcode::sub, left, right, left);
  out_.free(right);
  const uint64_t size = resolve(*target_of(e.left->type)).size;
  if (size > 1) {
    const unsigned by = out_.allocate();
    out_.set_integer(size, by);
    out_.log(Opcode::sdiv, left, by, left);
    out_.free(by);
  }
  return {left};
}

Value ExprLowering::lower_node(const Binary& e) {
  switch (e.op) {
    case Op::logical_and:
    case Op::logical_or:
      return short_circuit(e);
    case Op::logical_xor:
      return logical_xor(e);
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
    case Op::equal:
    case Op::not_equal:
      return comparison(e);
    default:
      break;
  }
  if (is_pointer(e.left->type) && is_pointer(e.right->type)) return pointer_difference(e);
  if (is_pointer(e.left->type) || is_pointer(e.right->type)) return additive_pointer(e);
  return arithmetic(e);
}

Value ExprLowering::lower_node(const Conditional& e) {
  const Emitter::Label otherwise = out_.make_label(), end = out_.make_label();
  test_branch(*e.condition, Opcode::be, otherwise);
  const unsigned result = lower_as(*e.then, e.type);
  out_.branch(Opcode::ba, end);
  out_.free(result);
  out_.place(otherwise);
  const unsigned other = lower_as(*e.otherwise, e.type);
  if (other != result) {
    out_.unary(Opcode::mov, other, result);
    out_.free(other);
    out_.claim(result);
  }
  out_.place(end);
  return {result};
}

}  // namespace dvm::compiler
