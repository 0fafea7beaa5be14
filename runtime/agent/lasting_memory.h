#pragma once
// Memory of a process that stays mapped while it runs: read-only segments of its program and of the libraries that the program
// is linked with, which the dynamic linker never unloads. Libraries that are opened later may be unloaded, and any other memory
// may be unmapped by another thread between a check and a load.

#include <sys/types.h>

#include <cstddef>
#include <vector>

#include "runtime/agent/address_space.h"
#include "runtime/agent/inside/format.h"

namespace dvm::runtime {

struct LastingRanges {
  inside::MemoryRange stack;                // where the stack of the first thread may lie
  std::vector<inside::MemoryRange> ranges;  // the program's first, then by address; adjacent segments are one

  std::vector<std::byte> bytes() const;  // an inside::LastingMemory
};

LastingRanges lasting_memory(pid_t pid, const std::vector<MemoryMapping>& mappings);

}  // namespace dvm::runtime
