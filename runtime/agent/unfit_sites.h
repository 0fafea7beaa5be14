#pragma once
// Sites whose memory cannot take a jump, whatever their code is.

#include <span>
#include <string_view>
#include <vector>

#include "runtime/agent/address_space.h"
#include "runtime/agent/agent_site.h"
#include "runtime/agent/detach.h"
#include "runtime/agent/memory.h"

namespace dvm::runtime {

// Why a site is refused.
inline constexpr std::string_view kWritableCode = "its code is writable, so the program may change it";

inline constexpr std::string_view kCrossesPage = "its first five bytes lie in two pages, so they cannot be replaced at once";

// Such as another tool.
inline constexpr std::string_view kChanged = "its code in memory differs from its file: something else has changed it";

// The copied instructions may raise a signal by a fault, and its handler would see the address of the copy.
inline constexpr std::string_view kRaises =
    "an instruction in its first five bytes may fault, and the process handles such faults";
inline constexpr std::string_view kRaisesInChild =
    "an instruction in its first five bytes may fault, and with -x followfork dvm does not see whether a child begins to handle "
    "such faults";
inline constexpr std::string_view kRaisesUnseen =
    "an instruction in its first five bytes may fault, and dvm cannot see whether the process begins to handle such faults";

// Fills in the refusals of those that have none.
void refuse_unfit(std::span<AgentSite> sites, const std::vector<MemoryMapping>& mappings);
// Sites whose memory does not hold what their file does. Jumps that are kept may be replaced.
void refuse_changed(std::span<AgentSite* const> sites, const AgentMemory& memory, std::span<const KeptUnwinder> kept);
// By what the process has mapped.
Status refuse_unfit(std::span<AgentSite> sites, pid_t pid);

}  // namespace dvm::runtime
