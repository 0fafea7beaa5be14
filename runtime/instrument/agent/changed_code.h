#pragma once
// Finds system calls that were written into the code of a process after it had mapped the file: by itself, or by another tracer.
// The kernel copies a page that is written to, and its page table says which ones are copies. Consumer context.

#include <sys/types.h>

#include "dvm/common/result.h"
#include "runtime/agent/address_space.h"
#include "runtime/code/module_code.h"

namespace dvm::runtime {

// mapping: of the code of that file. Jumps that were written over instructions, as dvm does, are no system calls, whatever bytes
// they have. An error: the memory cannot be read.
Result<bool> has_new_system_calls(pid_t pid, const MemoryMapping& mapping, const ModuleCode& file);

}  // namespace dvm::runtime
