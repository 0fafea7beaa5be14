#pragma once
// Watches the data of files that instructions address relative to the program counter. It is accessible as long as the process
// does not change its mapping or protection.

#include <span>
#include <vector>

#include "runtime/agent/address_space.h"
#include "runtime/agent/agent_site.h"

namespace dvm::runtime {

// Adds the mappings that the copied instructions of sites address in this way. Refuses a site that cannot access its data now, or
// if there are too many mappings.
void watch_file_data(std::span<AgentSite* const> sites, const std::vector<MemoryMapping>& mappings,
                     inside::WatchedMemory& watched);

// Adds the mappings of sites, so that threads notice when the program makes them writable. If there are too many files, the last
// ones are left out.
void note_code(std::span<const AgentSite> sites, const std::vector<MemoryMapping>& mappings, inside::OwnMemory& own);

}  // namespace dvm::runtime
