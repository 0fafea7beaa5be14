#pragma once
// Lets threads that are about to lock all memory of their process unmap the lanes of an agent first (inside/watch.h). Its jumps
// have been taken off. Tested by tests/runtime/scenarios/test_agent.py.

#include <sys/types.h>

#include "runtime/agent/memory.h"

namespace dvm::runtime {

// How often to try again while other threads use the lanes: for an eighth of a second, or for 3 ms.
inline constexpr int kPatientTries = 7, kFewTries = 2;

// Nothing is done if no thread of the process waits for it.
void abandon_lanes(pid_t pid, const AgentMemory& memory, pid_t tracer, int tries = kPatientTries);
// The same, in all processes in which the lanes of the tracer are mapped. owner: only in that one and those forked from it.
void abandon_all_lanes(pid_t tracer, pid_t owner = 0, int tries = kPatientTries);

}  // namespace dvm::runtime
