#pragma once
// The ids of a traced process's threads. A thread of a container (a PID namespace below dvm's) knows itself by its id there, and
// dvm by another one.

#include <sys/types.h>

#include <cstdint>
#include <unordered_map>

namespace dvm::runtime {

class ThreadIds {
 public:
  explicit ThreadIds(pid_t pid);

  pid_t pid() const { return pid_; }
  // Begins a round of meet(). The next search in it reads the threads of the process again.
  void begin_round() { is_searched_ = false; }
  // Learns the id of a thread, which may end soon. own: its id in its PID namespace, as the process says.
  void meet(uint64_t own) {
    if (differ_) (void)lives(own);
  }
  // The id that dvm knows the thread by. One that ended before dvm met it has minus its own id.
  pid_t of_dvm(uint64_t own) { return differ_ ? find(own) : static_cast<pid_t>(own); }
  bool lives(uint64_t own);
  bool differ() const { return differ_; }

 private:
  using Ids = std::unordered_map<pid_t, pid_t>;

  pid_t find(uint64_t own);
  void search();

  pid_t pid_;
  bool differ_;
  bool is_searched_ = false;  // in this round
  uint64_t listed_at_ = 0;    // when all of these were read, in ns
  Ids listed_;                // the threads at the last search: their own ids, by those of dvm
  Ids known_, older_;         // those of dvm by their own; also of threads that have ended, since their records may wait
};

}  // namespace dvm::runtime
