#pragma once
// Checks whether a process and this machine can take an agent.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>

#include "dvm/common/result.h"
#include "runtime/agent/memory.h"
#include "runtime/agent/stopped_process.h"

namespace dvm::runtime {

// Fails with the reason, and what would help if anything would. Nothing of the process is touched.
// follows: the agent is to follow forks.
Status check_target(pid_t pid, bool follows);

// The process has a filter for its system calls, or is denied most of them.
bool restricts_calls(pid_t pid);
// The same, or a thread has its system calls intercepted (PR_SET_SYSCALL_USER_DISPATCH).
bool restricts_calls(const StoppedProcess& process);
// Why such a process has no agent.
inline constexpr const char* kIntercepted = "a thread has its system calls intercepted (PR_SET_SYSCALL_USER_DISPATCH)";
// Users and groups may have other numbers there than here.
bool has_other_users(pid_t pid);
// All that it maps from now on may stay in memory as a whole (mlockall).
bool locks_memory(pid_t pid);
// Bytes that it may still map (ulimit -v).
uint64_t free_address_space(pid_t pid);

// Where the C library keeps the number of a thread, from its thread pointer; 0: nowhere where all threads of the process have it.
uint32_t find_thread_offset(const StoppedProcess& process, const AgentMemory& memory);

// Where threads have their rseq areas, from the thread pointer, and their size as it was registered.
struct RseqPlace {
  uint64_t offset = 0, bytes = 0;
};
// A thread that has none is left out: it has just begun, or its stubs will find that out. Nothing: no thread has one, or they
// are at different places, or one has another signature than those of the C library.
std::optional<RseqPlace> find_rseq(const StoppedProcess& process);

// True if programs can read the number of their CPU without waiting for earlier instructions (rdpid).
bool reads_cpu_number();
// True if the processor has the instruction lzcnt.
bool counts_leading_zeros();
// Other processes that do not have its memory. None of them ever gets it.
std::set<pid_t> apart_from(pid_t pid);
// Whether another process has the memory of this one, or may have it. Those that are known to be apart are not asked again.
bool shares_memory(pid_t pid, const std::set<pid_t>& apart = {});

}  // namespace dvm::runtime
