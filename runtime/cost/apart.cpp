// Covered by tests/unit/runtime/calibrate_test.cpp.

#include "runtime/cost/apart.h"

#include <algorithm>

namespace dvm::runtime {
namespace {

// So many of them, the last ones.
cpu_set_t last_of(const cpu_set_t& cpus, unsigned count) {
  cpu_set_t last;
  CPU_ZERO(&last);
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && count > 0; cpu--)
    if (CPU_ISSET(cpu, &cpus)) CPU_SET(cpu, &last), count--;
  return last;
}

}  // namespace

Apart::Apart(pid_t traced, unsigned threads) : traced_(traced) {
  CPU_ZERO(&before_);
  is_apart_ =
      sched_getaffinity(0, sizeof before_, &before_) == 0 && static_cast<unsigned>(CPU_COUNT(&before_)) > std::max(threads, 1u);
  if (!is_apart_) return;
  const cpu_set_t others = last_of(before_, std::max(threads, 1u));
  cpu_set_t own;
  CPU_XOR(&own, &before_, &others);
  sched_setaffinity(traced_, sizeof others, &others);
  sched_setaffinity(0, sizeof own, &own);
}

Apart::~Apart() {
  if (!is_apart_) return;
  sched_setaffinity(0, sizeof before_, &before_);
  sched_setaffinity(traced_, sizeof before_, &before_);
}

}  // namespace dvm::runtime
