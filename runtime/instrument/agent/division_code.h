#pragma once
// Makes machine code of divisions. A division by a constant other than 0 becomes a multiplication, which is several times faster.

#include <cstddef>
#include <cstdint>

#include "dvm/dif/opcode.h"
#include "runtime/instrument/agent/value_writer.h"

namespace dvm::runtime {

// A division of %rcx, which is changed, by the opcode. The result is in %rax.
void add_division(ValueWriter& code, dif::Opcode opcode, uint64_t divisor);
// A division of %rax by %rcx, which is changed. The result is in %rax. If %rcx is 0, the word `offset` behind the address in
// `base` becomes 1.
void add_division_by_value(ValueWriter& code, dif::Opcode opcode, unsigned base, size_t offset);

}  // namespace dvm::runtime
