#pragma once
// The kernel's address of dvm's memory (mm_struct). It distinguishes dvm, and processes that share its memory
// for a while, from others.

#include <cstdint>

#include "dvm/common/result.h"

namespace dvm::runtime {

// member: offset of the pointer to it in a task_struct.
Result<uint64_t> own_memory(int16_t member);

}  // namespace dvm::runtime
