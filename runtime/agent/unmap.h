#pragma once
// Unmaps what agents have mapped in a process, once their patches are off it.
//
// Memory stays as long as a thread may use it, and a later attempt may succeed. A thread may use it if
// - it executes code there, or is in a signal handler that has interrupted such code,
// - its lane is taken,
// - a jump still leads there, or
// - another process has the same memory.

#include <sys/types.h>

#include <span>
#include <vector>

#include "runtime/agent/address_space.h"
#include "runtime/agent/memory.h"
#include "runtime/agent/stopped_process.h"

namespace dvm::runtime {

// True if the header of the agent names mappings. Of these, only those that are still as it says are unmapped.
bool has_mappings(const FoundAgent& agent);
// Lanes of tracers that were killed before they could write a header, so that no agent of the process refers to them.
std::vector<AddressRange> orphaned_data(pid_t pid, const AgentMemory& memory);
// All threads stand still. More threads than `but` execute their code, or may go on with it, or one has taken a lane.
bool are_used(const StoppedProcess& process, const AgentMemory& memory, std::span<const FoundAgent> agents, size_t but = 0);
// Unmaps the agents and such lanes, as far as no thread uses them. All threads stand still. False: something stays.
bool unmap_agents(StoppedProcess& process, const AgentMemory& memory, std::span<const FoundAgent> agents);

}  // namespace dvm::runtime
