#pragma once
// The instruction that ends a DIFO, for code that builds DIF.

#include "dvm/dif/instruction.h"
#include "dvm/dif/opcode.h"

namespace dvm::dif {

inline Instruction return_of(unsigned reg) { return Instruction::registers(Opcode::ret, 0, 0, reg); }

}  // namespace dvm::dif
