#pragma once
// Where a process that is traced and the thread that traces it run while they are measured. To wake up on a CPU that was idle
// takes twice as long as on one that traced threads keep awake, and where the scheduler puts dvm it may do one or the other for
// seconds. A machine with more CPUs than busy threads has idle ones, so that is what is priced, and what predictions are compared
// with; where all are in use dvm shares one.

#include <sched.h>
#include <sys/types.h>

namespace dvm::lab::noise {

// Until it is gone; then both may run where the thread could before. Where the thread has a single CPU nothing is changed.
class Placed {
 public:
  // On CPUs of their own, the process on as many as it has busy threads; where there are no more CPUs than that nothing is
  // changed.
  static Placed apart(pid_t traced, unsigned threads = 1);
  // On one CPU.
  static Placed together(pid_t traced);
  ~Placed();
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;

 private:
  // No CPUs: nothing is changed.
  Placed(pid_t traced, const cpu_set_t& before, const cpu_set_t& own, const cpu_set_t& others);

  pid_t traced_;
  cpu_set_t before_;
  bool is_placed_;
};

}  // namespace dvm::lab::noise
