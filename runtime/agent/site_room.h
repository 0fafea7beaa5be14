#pragma once
// The space that sites take in a code mapping. Tested by tests/runtime/scenarios/test_agent.py.

#include <cstdint>
#include <span>

#include "runtime/agent/agent_site.h"
#include "runtime/agent/inside/format.h"

namespace dvm::runtime {

// Those that its own code may serve. One at a function that is watched, or at a call that may take memory, always goes to
// agent_enter.
std::span<const AgentFirer> firers_of(const AgentSite& site);
// Bytes of its stub and all that the stub uses, at most.
uint64_t room_of(const AgentSite& site, const inside::Context& context);

}  // namespace dvm::runtime
