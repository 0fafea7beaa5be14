#pragma once
// Threads of a process, fields of /proc/PID/status, and why ptrace(2) refuses a thread.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dvm::runtime {

// Includes threads that have ended and are not waited for yet. Empty: the process does not exist.
std::vector<pid_t> threads_of(pid_t pid);

// "S (sleeping)" for the name "State:"; empty: there is no such field or thread.
std::string status_field(pid_t tid, std::string_view name);
// The same; the thread must belong to the process.
std::string status_field(pid_t pid, pid_t tid, std::string_view name);

// dvm has started the process, or the thread's.
bool is_own_child(pid_t tid);

// The id by which a thread knows itself: that in its own PID namespace.
pid_t own_id(pid_t pid, pid_t tid);
// The process is in a PID namespace below dvm's, as a container is: its threads know themselves by other ids than dvm.
bool has_own_ids(pid_t pid);

// How long a thread has run on a CPU, in ns. If the kernel does not say, the time of CLOCK_MONOTONIC.
uint64_t run_time(pid_t tid);

// The signals for which the process has a handler: signal n is bit n - 1. If they cannot be read, all signals.
uint64_t handled_signals(pid_t pid);

// The folder in /proc that shows the memory of a process: its own, or that of another thread once the first one has ended.
std::string memory_folder(pid_t pid);

// Why a thread cannot be seized, once PTRACE_SEIZE has failed with EPERM.
std::string hold_problem(pid_t tid);

}  // namespace dvm::runtime
