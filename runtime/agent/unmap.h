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
// All threads stand still. More threads than `but` execute their code, or may go on with it, or one has taken a lane.
bool are_used(const StoppedProcess& process, const AgentMemory& memory, std::span<const FoundAgent> agents, size_t but = 0,
              pid_t ended = 0);
// Unmaps the agents and what killed tracers have left without a header, as far as no thread uses it. All threads stand still.
// ended: a living tracer counts as one of these. False: something stays.
bool unmap_agents(StoppedProcess& process, const AgentMemory& memory, std::span<const FoundAgent> agents, pid_t ended = 0);
// Lets the first thread of the process unmap ranges in this order. False: it could not be led there.
bool unmap_ranges(StoppedProcess& process, const AgentMemory& memory, std::span<const AddressRange> ranges);

}  // namespace dvm::runtime
