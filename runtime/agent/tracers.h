#pragma once
// Whether the process that has put an agent somewhere still exists. Numbers of processes are used again, and differ between PID
// namespaces.

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "runtime/agent/address_space.h"

namespace dvm::runtime {

// When a process was started, in the kernel's ticks; 0: it does not exist.
uint64_t start_time(pid_t pid);
pid_t parent_of(pid_t pid);
// When a tracer was started, as it was when this was first asked of it; 0: it had ended before.
uint64_t tracer_began(pid_t tracer);
// The number of a process's PID namespace; 0: it is not shown. process: its folder in /proc.
uint32_t pid_space(const std::string& process);
// A tracer of this namespace may live, though its process is not visible from dvm's. 0: the namespace is not known.
bool may_be_hidden(uint32_t space);
// True if the agent is this tracer's. One of another PID namespace may have the same number.
bool is_of_tracer(const FoundAgent& agent, pid_t tracer);
// True if the process that traces by this agent exists.
bool is_traced(const FoundAgent& agent);

}  // namespace dvm::runtime
