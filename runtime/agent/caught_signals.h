#pragma once
// Places the handler of the agent for SIGSEGV and SIGBUS (inside/handler.h), and gives the process its own actions back. A thread
// of the process makes the system calls for that; all threads stand still.
//
// The handler is not placed
// - in place of one that runs on a stack of its own, where a frame of a signal may not have room, or of one of another agent;
// - in place of one that the kernel resets (SA_RESETHAND), while other threads may load;
// - if the process ignores the signal.

#include <sys/types.h>

#include <cstdint>
#include <span>

#include "runtime/agent/address_space.h"
#include "runtime/agent/inside/format.h"
#include "runtime/agent/memory.h"
#include "runtime/agent/stopped_process.h"

namespace dvm::runtime {

// From then on threads load what may fault. restorer: address of agent_restorer. Nothing happens if the handler cannot be placed.
void catch_faults(StoppedProcess& process, const AgentMemory& memory, const inside::Context& context, uint64_t restorer);

// Of agents that are about to be unmapped. False: a handler of theirs may still be in place.
bool give_actions_back(StoppedProcess& process, const AgentMemory& memory, std::span<const FoundAgent> agents);

// The signals that the process would handle without agents. The first one looks for these in the mappings; the second one, which
// may be called often, knows only this agent.
uint64_t signals_of_program(pid_t pid, const AgentMemory& memory);
uint64_t signals_of_program(const inside::Context& context, const AgentMemory& memory);

}  // namespace dvm::runtime
