#pragma once
// An instruction with its operands, for the analysis of registers and the stack.

#include <Zydis/Zydis.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "runtime/code/function_code.h"

namespace dvm::runtime {

struct Operated {
  ZydisDecodedInstruction instruction;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;

  bool decode(CodeBytes code) {
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code.data(), code.size(), &instruction, operands.data()));
  }
  std::span<const ZydisDecodedOperand> all() const { return {operands.data(), instruction.operand_count}; }
};

// The 64-bit register of which a register is a part.
ZydisRegister whole(ZydisRegister reg);
bool is_write(const ZydisDecodedOperand& operand);
// The number of bytes by which the stack grows. Nothing: not known.
std::optional<int64_t> growth(const Operated& one);

}  // namespace dvm::runtime
