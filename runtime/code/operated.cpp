// The effect of instructions on the stack. Covered by tests/unit/code/entry_place_test.cpp and exits_test.cpp.

#include "runtime/code/operated.h"

#include <algorithm>

namespace dvm::runtime {

ZydisRegister whole(ZydisRegister reg) { return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg); }

bool is_write(const ZydisDecodedOperand& operand) { return (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0; }

std::optional<int64_t> growth(const Operated& one) {
  const auto& first = one.operands[0];
  const auto& second = one.operands[1];
  const ZydisMnemonic mnemonic = one.instruction.mnemonic;
  if (mnemonic == ZYDIS_MNEMONIC_PUSH) {
    if (first.type == ZYDIS_OPERAND_TYPE_MEMORY || one.instruction.operand_width != 64) return std::nullopt;
    return 8;
  }
  const bool moves = std::any_of(one.all().begin(), one.all().end(), [](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && is_write(operand) && whole(operand.reg.value) == ZYDIS_REGISTER_RSP;
  });
  if (!moves) return 0;
  const bool by_constant = second.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && first.size == 64;
  if (by_constant && mnemonic == ZYDIS_MNEMONIC_SUB) return second.imm.value.s;
  if (by_constant && mnemonic == ZYDIS_MNEMONIC_ADD) return -second.imm.value.s;
  return std::nullopt;
}

}  // namespace dvm::runtime
