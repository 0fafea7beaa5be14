#pragma once
// Divisions by constants other than 0, as machine code that multiplies: a division of 64 bits takes several times as long.

#include <cstdint>

#include "dvm/dif/opcode.h"
#include "runtime/instrument/agent/value_writer.h"

namespace dvm::runtime {

// A division of %rcx, which is changed, by the opcode. The result is in %rax.
void add_division(ValueWriter& code, dif::Opcode opcode, uint64_t divisor);

}  // namespace dvm::runtime
