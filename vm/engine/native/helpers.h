#pragma once
// The functions that machine code calls: the bodies of opcodes (vm/engine/interp/ops.h), subroutines and getters, by their number
// (translator.h); and where it finds the machine state. Nothing here has a meaning of its own.

#include "vm/engine/native/translator.h"
#include "vm/state/state.h"

namespace dvm::vm::native {

// The body of an opcode on the values of its registers. `operand`: the variable, or the type that is pushed. Returns the new
// value of rd; of scmp, the comparison with 0.
using OpcodeHelper = uint64_t (*)(State& state, uint64_t r1, uint64_t r2, uint64_t rd, uint32_t operand) noexcept;

const void* const* helpers();
const MachineLayout& layout();

}  // namespace dvm::vm::native
