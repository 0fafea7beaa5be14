#pragma once
// The opcodes of D's operators, signed and unsigned. The passes look opcodes up here, and name few of them.

#include <algorithm>
#include <array>
#include <optional>

#include "compiler/ast/ast.h"
#include "dvm/dif/opcode.h"

namespace dvm::compiler {

struct OperatorOpcodes {
  Op op;
  dif::Opcode with_sign, without;
};

inline constexpr std::array kArithmetic = {
    OperatorOpcodes{Op::add, dif::Opcode::add, dif::Opcode::add},
    OperatorOpcodes{Op::subtract, dif::Opcode::sub, dif::Opcode::sub},
    OperatorOpcodes{Op::multiply, dif::Opcode::mul, dif::Opcode::mul},
    OperatorOpcodes{Op::divide, dif::Opcode::sdiv, dif::Opcode::udiv},
    OperatorOpcodes{Op::remainder, dif::Opcode::srem, dif::Opcode::urem},
    OperatorOpcodes{Op::bit_and, dif::Opcode::and_, dif::Opcode::and_},
    OperatorOpcodes{Op::bit_or, dif::Opcode::or_, dif::Opcode::or_},
    OperatorOpcodes{Op::bit_xor, dif::Opcode::xor_, dif::Opcode::xor_},
    OperatorOpcodes{Op::shift_left, dif::Opcode::sll, dif::Opcode::sll},
    OperatorOpcodes{Op::shift_right, dif::Opcode::sra, dif::Opcode::srl},
    OperatorOpcodes{Op::complement, dif::Opcode::not_, dif::Opcode::not_},
};

constexpr dif::Opcode opcode_of(Op op, bool with_sign = false) {
  const auto* row = std::find_if(kArithmetic.begin(), kArithmetic.end(), [op](const auto& r) { return r.op == op; });
  return with_sign ? row->with_sign : row->without;
}

// The operator that an opcode computes; with a sign only if that makes a difference.
struct Operation {
  Op op;
  bool with_sign;
};
constexpr std::optional<Operation> operation_of(dif::Opcode opcode) {
  for (const OperatorOpcodes& row : kArithmetic)
    if (row.without == opcode || row.with_sign == opcode) return Operation{row.op, row.without != opcode};
  return std::nullopt;
}

constexpr bool commutes(dif::Opcode opcode) {
  const auto operation = operation_of(opcode);
  if (!operation) return false;
  const Op op = operation->op;
  return op == Op::add || op == Op::multiply || op == Op::bit_and || op == Op::bit_or || op == Op::bit_xor;
}

// The right operand that leaves the left operand unchanged (the identity element).
constexpr std::optional<uint64_t> neutral(Op op) {
  switch (op) {
    case Op::add:
    case Op::subtract:
    case Op::bit_or:
    case Op::bit_xor:
    case Op::shift_left:
    case Op::shift_right:
      return 0;
    case Op::multiply:
    case Op::divide:
      return 1;
    case Op::bit_and:
      return ~uint64_t{0};
    default:
      return std::nullopt;
  }
}

// The branch taken if the comparison holds, and `inverse` if it does not.
struct ComparisonOpcodes {
  Op op;
  dif::Opcode with_sign, without;
  Op inverse;
};

inline constexpr std::array kComparisons = {
    ComparisonOpcodes{Op::less, dif::Opcode::bl, dif::Opcode::blu, Op::greater_equal},
    ComparisonOpcodes{Op::less_equal, dif::Opcode::ble, dif::Opcode::bleu, Op::greater},
    ComparisonOpcodes{Op::greater, dif::Opcode::bg, dif::Opcode::bgu, Op::less_equal},
    ComparisonOpcodes{Op::greater_equal, dif::Opcode::bge, dif::Opcode::bgeu, Op::less},
    ComparisonOpcodes{Op::equal, dif::Opcode::be, dif::Opcode::be, Op::not_equal},
    ComparisonOpcodes{Op::not_equal, dif::Opcode::bne, dif::Opcode::bne, Op::equal},
};

constexpr dif::Opcode branch_of(Op op, bool with_sign = false) {
  const auto* row = std::find_if(kComparisons.begin(), kComparisons.end(), [op](const auto& r) { return r.op == op; });
  return with_sign ? row->with_sign : row->without;
}

// The comparison that a branch asks for; with a sign only if that makes a difference. Nothing for `ba`.
constexpr std::optional<Operation> comparison_of(dif::Opcode branch) {
  for (const ComparisonOpcodes& row : kComparisons)
    if (row.without == branch || row.with_sign == branch) return Operation{row.op, row.without != branch};
  return std::nullopt;
}

constexpr bool holds(Operation comparison, uint64_t left, uint64_t right) {
  const bool less = comparison.with_sign ? static_cast<int64_t>(left) < static_cast<int64_t>(right) : left < right;
  switch (comparison.op) {
    case Op::less:
      return less;
    case Op::less_equal:
      return less || left == right;
    case Op::greater:
      return !less && left != right;
    case Op::greater_equal:
      return !less;
    case Op::equal:
      return left == right;
    default:
      return left != right;
  }
}

}  // namespace dvm::compiler
