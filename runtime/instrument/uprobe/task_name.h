#pragma once
// The place of a thread's name in the kernel. Loading it there costs a few ns; the helper of BPF costs 40.

#include <cstdint>

namespace dvm::runtime {

// Offset of the name, kCommBytes padded with NULs, in a task_struct; 0: not known, or this kernel does not pad it.
int16_t task_name_offset();

}  // namespace dvm::runtime
