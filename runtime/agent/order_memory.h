#pragma once
// Memory barriers in the threads of traced processes, so that these need none themselves: membarrier(2).

#include <cstdint>

namespace dvm::runtime {

// The call by which a process lets others ask for that.
inline constexpr uint64_t kMembarrier = 324, kRegisterForAll = 1 << 2, kRegisterRestarts = 1 << 8;

// Each running thread of the processes that have made the call goes through a memory barrier, before this returns. False: the
// kernel does not do that.
bool order_memory_of_threads();

}  // namespace dvm::runtime
