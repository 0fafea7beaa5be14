// Covered by tests/runtime/variables (tst.lwpsinfo.d).
#include "runtime/process/scheduling.h"

#include <sched.h>
#include <sys/resource.h>

#include <cerrno>

namespace dvm::runtime {

namespace {

constexpr int64_t kUnknown = -1;
constexpr int64_t kNiceZero = 20, kKernelNiceZero = 120, kKernelRealTime = 99;

int64_t nice_of(int32_t tid, int64_t zero) noexcept {
  errno = 0;
  const int nice = getpriority(PRIO_PROCESS, static_cast<id_t>(tid));
  return nice == -1 && errno != 0 ? kUnknown : zero + nice;
}

int64_t kernel_priority(int32_t tid, int policy) noexcept {
  sched_param parameters{};
  if (policy != SCHED_FIFO && policy != SCHED_RR) return nice_of(tid, kKernelNiceZero);
  return sched_getparam(tid, &parameters) == 0 ? kKernelRealTime - parameters.sched_priority : kUnknown;
}

}  // namespace

int64_t bound_cpu(int32_t tid) noexcept {
  cpu_set_t cpus;
  if (sched_getaffinity(tid, sizeof cpus, &cpus) != 0 || CPU_COUNT(&cpus) != 1) return kUnknown;
  int64_t cpu = 0;
  while (!CPU_ISSET(static_cast<size_t>(cpu), &cpus)) cpu++;
  return cpu;
}

int64_t scheduling(int32_t tid, uint64_t number) noexcept {
  if (number == 1) return nice_of(tid, kNiceZero);
  const int found = number > 2 ? -1 : sched_getscheduler(tid);
  if (found < 0) return kUnknown;
  const int policy = found & ~kResetOnFork;
  return number == 0 ? policy : kernel_priority(tid, policy);
}

}  // namespace dvm::runtime
