#pragma once
// Removes the patches of agents from a process, by the tables there, and unmaps their memory. Used at the end of a run, by
// the guard after dvm was killed, and by `dvm detach` after both were.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/agent/address_space.h"
#include "runtime/agent/memory.h"
#include "runtime/agent/tracers.h"

namespace dvm::runtime {

struct Detached {
  size_t agents = 0;    // agents that were disarmed
  size_t restored = 0;  // instruction sequences that were restored
};

enum class WhichAgents : uint8_t { of_dead_tracers, of_this_tracer, all };
enum class Mappings : uint8_t { unmap, keep };

// The addresses of the agent's jumps that are in the code now.
std::vector<uint64_t> jumps_of(const AgentMemory& memory, const FoundAgent& agent);
// The same, plus jumps whose opcode is temporarily replaced, for example by a breakpoint.
std::vector<uint64_t> held_jumps_of(const AgentMemory& memory, const FoundAgent& agent);
// Jumps at unwinders that killed tracers have left, because a thread may still be interrupted in code that they describe.
struct KeptUnwinder {
  AddressRange code;
  inside::Patch patch;
};
std::vector<KeptUnwinder> kept_unwinders(pid_t pid, const AgentMemory& memory);

// Stops the process, unless there is nothing to restore. tracer: for of_this_tracer. After an error, the code is correct but
// slower. Mappings that a thread still uses stay, for the next call.
Result<Detached> detach_agents(pid_t pid, const AgentMemory& memory, WhichAgents which, pid_t tracer = 0,
                               Mappings mappings = Mappings::unmap);

// Restores the code under some jumps of a tracer. All threads must be stopped. jumps: sorted addresses.
void take_jumps_off(pid_t pid, const AgentMemory& memory, pid_t tracer, std::span<const uint64_t> jumps);

// True if the lanes of that tracer are mapped in the process.
bool has_lanes_of(pid_t pid, pid_t tracer);
// The processes in which the lanes of the tracer are mapped: those that it traces, and their forked children.
std::vector<pid_t> processes_of(pid_t tracer);
// Removes the agents of that tracer from all of them. parent: only from its forked children, and theirs.
void detach_forked(pid_t tracer, pid_t parent = 0);

}  // namespace dvm::runtime
