#pragma once
// The functions that machine code calls: the bodies of opcodes (vm/engine/interp/ops.h), subroutines and getters, by number
// (translator.h). Also the layout of the machine state.

#include "vm/engine/native/translator.h"
#include "vm/state/state.h"

namespace dvm::vm::native {

// Runs the body of an opcode. r1, r2, rd: values of its registers. operand: the variable, or the type that is pushed. Returns the
// new value of rd. For scmp, returns a number whose comparison with 0 is the result.
using OpcodeHelper = uint64_t (*)(State& state, uint64_t r1, uint64_t r2, uint64_t rd, uint32_t operand) noexcept;

const void* const* helpers();
const MachineLayout& layout();

}  // namespace dvm::vm::native
