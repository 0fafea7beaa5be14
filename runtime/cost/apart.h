#pragma once
// A process that is traced, and the thread that traces it, on CPUs of their own. To wake up on a CPU that was idle takes twice as
// long as on one that the traced thread keeps awake, and where the scheduler puts dvm it may do one or the other for seconds. A
// machine with more CPUs than busy threads has idle ones, so that is what is priced, and what predictions are compared with.

#include <sched.h>
#include <sys/types.h>

namespace dvm::runtime {

// Until it is gone; then both may run where the thread could before. Where there are no more CPUs than threads of the process it
// does nothing.
class Apart {
 public:
  explicit Apart(pid_t traced, unsigned threads = 1);
  ~Apart();
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;

 private:
  pid_t traced_;
  bool is_apart_ = false;
  cpu_set_t before_;
};

}  // namespace dvm::runtime
