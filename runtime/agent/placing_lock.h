#pragma once
// A lock that dvm takes before it looks for jumps of others in the code of processes, and keeps until it has written its own
// jumps or breakpoints there. So no other dvm writes there in between. Others wait for it, so dvm does all slow work before.
//
// The lock is the name of a socket, one for each process and one for all. Users share it without a file, and the kernel releases
// it when its holder dies.

#include <sys/types.h>

#include <set>
#include <vector>

#include "common/file_descriptor.h"

namespace dvm::runtime {

class PlacingLock {
 public:
  // Locks these processes; none: all. Waits some seconds for a holder that has been stopped, then goes on without the lock.
  explicit PlacingLock(const std::set<pid_t>& pids);
  bool is_held() const { return is_held_; }

 private:
  std::vector<FileDescriptor> sockets_;
  bool is_held_ = false;
};

}  // namespace dvm::runtime
