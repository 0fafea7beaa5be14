// Covered by tests/unit/lab/calibrate_test.cpp.

#include "lab/noise/apart.h"

#include <algorithm>

namespace dvm::lab::noise {
namespace {

// Empty if the kernel does not say.
cpu_set_t allowed() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  sched_getaffinity(0, sizeof cpus, &cpus);
  return cpus;
}

cpu_set_t last_of(const cpu_set_t& cpus, unsigned count) {
  cpu_set_t last;
  CPU_ZERO(&last);
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && count > 0; cpu--)
    if (CPU_ISSET(cpu, &cpus)) CPU_SET(cpu, &last), count--;
  return last;
}

}  // namespace

CpuPlacement CpuPlacement::apart(pid_t traced, unsigned threads, pid_t other) {
  const cpu_set_t all = allowed(), others = last_of(all, std::max(threads, 1u));
  cpu_set_t own;
  CPU_XOR(&own, &all, &others);
  return CpuPlacement(traced, other, all, own, others);
}

CpuPlacement CpuPlacement::together(pid_t traced) {
  const cpu_set_t all = allowed(), one = last_of(all, 1);
  return CpuPlacement(traced, 0, all, one, one);
}

CpuPlacement::CpuPlacement(pid_t traced, pid_t other, const cpu_set_t& before, const cpu_set_t& own, const cpu_set_t& others)
    : traced_(traced), other_(other), before_(before), is_placed_(CPU_COUNT(&own) > 0) {
  if (!is_placed_) return;
  sched_setaffinity(traced_, sizeof others, &others);
  sched_setaffinity(other_, sizeof own, &own);
}

CpuPlacement::~CpuPlacement() {
  if (!is_placed_) return;
  sched_setaffinity(other_, sizeof before_, &before_);
  sched_setaffinity(traced_, sizeof before_, &before_);
}

}  // namespace dvm::lab::noise
