#pragma once
// How the kernel schedules a thread.

#include <cstdint>

namespace dvm::runtime {

// 0: the policy (SCHED_*). 1: the nice value and 20, as in pr_nice. 2: the priority as the kernel's task_struct has it. -1:
// unknown.
int64_t scheduling(int32_t tid, uint64_t number) noexcept;
// The only CPU that it may run on. -1: it may run on several.
int64_t bound_cpu(int32_t tid) noexcept;

}  // namespace dvm::runtime
