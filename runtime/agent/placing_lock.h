#pragma once
// A lock that a dvm holds from when it looks for jumps of others in the code of processes until it has written jumps or
// breakpoints there, so that no other dvm writes there in between. Others wait for it, so what takes long is done before.
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
