#pragma once
// Finds where the kernel keeps a thread's name and parent. Loading the name there costs a few ns; the helper of BPF costs 40.

#include <cstdint>
#include <optional>

#include "runtime/catalog/operand.h"

namespace dvm::runtime {

// Offset of the name, kCommBytes padded with NULs, in a task_struct; 0: not known, or this kernel does not pad it.
int16_t task_name_offset();

// The process id of the running thread's parent, in the initial namespace; nothing: the kernel does not say where that lies.
std::optional<Operand> parent_of_this_thread();

}  // namespace dvm::runtime
