#pragma once
// Memory barriers in the threads of traced processes, so that these need none themselves: membarrier(2).

#include <cstdint>

namespace dvm::runtime {

// The call by which a process permits others to order its memory accesses.
inline constexpr uint64_t kMembarrier = 324, kRegisterForAll = 1 << 2, kRegisterRestarts = 1 << 8;

// Makes each running thread of the processes that have made that call execute a memory barrier. False: the kernel does not
// support that.
bool order_memory_of_threads();

}  // namespace dvm::runtime
