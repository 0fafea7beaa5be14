#pragma once
// Takes the patches of agents off a process, by the tables that they have left in it, and unmaps what they have mapped. The same
// for a run that ends, a guard whose dvm was killed, and `dvm detach` when both were.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/agent/address_space.h"
#include "runtime/agent/memory.h"

namespace dvm::runtime {

struct Detached {
  size_t agents = 0;    // whose stubs do nothing any more
  size_t restored = 0;  // instruction sequences that were put back
};

enum class WhichAgents : uint8_t { of_dead_tracers, of_this_tracer, all };
enum class Mappings : uint8_t { unmap, keep };

// When a process was started, in the kernel's ticks; 0: it does not exist.
uint64_t start_time(pid_t pid);
pid_t parent_of(pid_t pid);
// The process that traces with this agent still lives.
bool is_traced(const FoundAgent& agent);
// Addresses of its jumps that lie in the code now.
std::vector<uint64_t> jumps_of(const AgentMemory& memory, const FoundAgent& agent);
// The same, with those whose opcode something else has replaced, and may put back.
std::vector<uint64_t> held_jumps_of(const AgentMemory& memory, const FoundAgent& agent);

// The process is stopped for it, unless there is nothing to restore. tracer: of of_this_tracer. An error leaves code that is
// correct but slower. Mappings that a thread still uses stay, for the next call.
Result<Detached> detach_agents(pid_t pid, const AgentMemory& memory, WhichAgents which, pid_t tracer = 0,
                               Mappings mappings = Mappings::unmap);

// All threads stand still. Puts back what was under these jumps of a tracer, which are sorted. The others stay.
void take_jumps_off(pid_t pid, const AgentMemory& memory, pid_t tracer, std::span<const uint64_t> jumps);

// Whether that tracer's lanes are mapped in a process.
bool has_lanes_of(pid_t pid, pid_t tracer);
// Processes in which this one's lanes are mapped: those that it traces, and what they have forked.
std::vector<pid_t> processes_of(pid_t tracer);
// Takes the agents of that tracer off all of them.
void detach_forked(pid_t tracer);

}  // namespace dvm::runtime
