#pragma once
// How the kernel schedules a thread.

#include <cstdint>

namespace dvm::runtime {

// SCHED_RESET_ON_FORK, a bit of what sched_getscheduler() returns, which some C libraries hide.
inline constexpr int kResetOnFork = 0x40000000;

// Property 0 is the policy (SCHED_*), 1 the nice value plus 20, as in pr_nice, 2 the priority as in the kernel's task_struct.
// Returns -1 if it is unknown.
int64_t scheduling(int32_t tid, uint64_t number) noexcept;
// The only CPU that it may run on. -1: it may run on several.
int64_t bound_cpu(int32_t tid) noexcept;

}  // namespace dvm::runtime
