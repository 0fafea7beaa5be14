#pragma once
// How the kernel tells of breakpoints and of single steps (PTRACE_SINGLESTEP). If the instruction of a step is a system call that
// waits, the kernel queues the SIGTRAP of the step at the end of the call. However, it reports group stops and requested stops
// before it. A tracer that hands the SIGTRAP on kills the program. Tested by tests/unit/instrument/single_step_test.cpp.

#include <sys/types.h>

#include <cstdint>

namespace dvm::runtime {

enum class SingleStep : uint8_t {
  cut,     // the thread stopped before it executed the instruction; when it continues, no SIGTRAP comes
  queued,  // the SIGTRAP is the next signal of the thread
  done     // the thread stands in the stop by that SIGTRAP
};

// The single step of a stopped thread. signal: the one that it is about to take; 0: the stop has another reason.
SingleStep single_step_at(pid_t tid, int signal);

// The signal comes from a breakpoint of dvm, not from elsewhere.
bool is_of_breakpoint(pid_t tid, int signal);

}  // namespace dvm::runtime
