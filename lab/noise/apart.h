#pragma once
// CPUs for a traced process and for the thread that traces it, while they are measured. Waking up on an idle CPU takes twice as
// long as on one that traced threads keep awake, and the scheduler may choose either for seconds. On separate CPUs, dvm wakes up
// on an idle one. Prices are those of this case, unless the traced threads need all CPUs.

#include <sched.h>
#include <sys/types.h>

namespace dvm::lab::noise {

// Restores the former CPUs when it is destroyed. Changes nothing if the thread has a single CPU.
class CpuPlacement {
 public:
  // The process on as many CPUs as it has busy threads, the calling thread or another process on others, unless none are left.
  static CpuPlacement apart(pid_t traced, unsigned threads = 1, pid_t other = 0);
  // On one CPU.
  static CpuPlacement together(pid_t traced);
  ~CpuPlacement();
  CpuPlacement(const CpuPlacement&) = delete;
  CpuPlacement& operator=(const CpuPlacement&) = delete;

 private:
  // own: the CPUs of `other`; empty: nothing is changed.
  CpuPlacement(pid_t traced, pid_t other, const cpu_set_t& before, const cpu_set_t& own, const cpu_set_t& others);

  pid_t traced_, other_;
  cpu_set_t before_;
  bool is_placed_;
};

}  // namespace dvm::lab::noise
