#pragma once
// Sites whose memory cannot take a jump, whatever their code is.

#include <span>
#include <vector>

#include "runtime/agent/address_space.h"
#include "runtime/agent/agent_site.h"

namespace dvm::runtime {

// Fills in the refusals of those that have none.
void refuse_unfit(std::span<AgentSite> sites, const std::vector<MemoryMapping>& mappings);
// By what the process has mapped.
Status refuse_unfit(std::span<AgentSite> sites, pid_t pid);

}  // namespace dvm::runtime
