#pragma once
// Lets threads that are about to lock all memory of their process unmap the lanes of an agent first (inside/watch.h). Its jumps
// have been taken off. Tested by tests/runtime/scenarios/test_agent.py.

#include <sys/types.h>

#include "runtime/agent/memory.h"

namespace dvm::runtime {

// Nothing is done if no thread of the process waits for it. Tries for an eighth of a second while other threads use the lanes.
void abandon_lanes(pid_t pid, const AgentMemory& memory, pid_t tracer);
// The same, in all processes in which the lanes of the tracer are mapped.
void abandon_all_lanes(pid_t tracer);

}  // namespace dvm::runtime
