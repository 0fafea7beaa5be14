#pragma once
// Sites whose memory cannot take a jump, whatever their code is.

#include <span>
#include <string_view>
#include <vector>

#include "runtime/agent/address_space.h"
#include "runtime/agent/agent_site.h"

namespace dvm::runtime {

// Fills in the refusals of those that have none.
// Why a site is not taken whose copied instructions raise signals by faults. A handler would see the address of the copy.
inline constexpr std::string_view kRaises =
    "an instruction in its first five bytes may fault, and the process handles such faults";
inline constexpr std::string_view kRaisesUnseen =
    "an instruction in its first five bytes may fault, and the process may come to handle such faults unseen";

void refuse_unfit(std::span<AgentSite> sites, const std::vector<MemoryMapping>& mappings);
// By what the process has mapped.
Status refuse_unfit(std::span<AgentSite> sites, pid_t pid);

}  // namespace dvm::runtime
