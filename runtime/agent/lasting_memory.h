#pragma once
// Memory of a process that nothing takes away while it runs: segments, not writable, of its program and of the libraries that
// this needs. The dynamic linker never unloads these. One that the program has opened later may be unloaded, and any other memory
// may be unmapped by another thread between a check and a load.

#include <sys/types.h>

#include <vector>

#include "runtime/agent/address_space.h"
#include "runtime/agent/inside/format.h"

namespace dvm::runtime {

// The program's first, then by address. Adjacent segments are one range.
std::vector<inside::MemoryRange> lasting_memory(pid_t pid, const std::vector<MemoryMapping>& mappings);

}  // namespace dvm::runtime
