#pragma once
// Memory that instructions address relative to themselves: data of their own file. It is there as long as the process does not
// change it, so its protection is watched.
//
// Tested by tests/unit/instrument/file_data_test.cpp and tests/runtime/scenarios/test_agent_faults.py.

#include <span>
#include <vector>

#include "runtime/agent/address_space.h"
#include "runtime/agent/agent_site.h"

namespace dvm::runtime {

// Adds the mappings that the copied instructions of sites address so. Refuses a site that may not read or write its data now, or
// for whose data there is no room.
void watch_file_data(std::span<AgentSite* const> sites, const std::vector<MemoryMapping>& mappings,
                     inside::WatchedMemory& watched);

}  // namespace dvm::runtime
