#pragma once
// System calls in which ptrace has stopped a thread.
//
// The kernel ends some calls (epoll_wait, sigtimedwait, semop ...) with EINTR although no signal has come, or one that the
// program ignores. Such a call is made again. Covered by tests/unit/instrument/stopped_process_test.cpp and
// tests/runtime/scenarios/test_agent_waits.py.

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>

namespace dvm::runtime {

// The stop has ended the call of the thread, rather than a signal.
bool is_ended_by_stop(pid_t pid, pid_t tid, const user_regs_struct& registers);
// The registers with which the kernel makes that call again, or ends it with EINTR if a handler runs first. The kernel reads them
// so only after a stop in which it handles signals, not after one at the end of a system call.
user_regs_struct made_again(user_regs_struct registers);

// The signals that a thread blocks now: in ppoll(), sigsuspend() and others, those of the call's own mask.
uint64_t blocked_signals(pid_t pid, pid_t tid);
// Signals wait for the thread, and all are blocked by the mask of the call that it was in. They would end a call that is made
// again with another mask.
bool only_call_blocks_signals(pid_t pid, pid_t tid, uint64_t mask_of_call);

enum class StopAt : uint8_t { signals, call_end };
// Both, for a thread that the caller has stopped. signal: one that it is about to take, if any. A call that a signal has ended is
// made again only if the program ignores the signal.
void make_call_again(pid_t tid, int signal = 0, StopAt where = StopAt::signals);

// The registers with which a stopped thread makes a call again that the kernel would restart.
user_regs_struct resumed(user_regs_struct registers);

}  // namespace dvm::runtime
