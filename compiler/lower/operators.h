#pragma once
// The opcodes of D's operators, with and without a sign.

#include <array>

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
};

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

}  // namespace dvm::compiler
