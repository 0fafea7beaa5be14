#pragma once
// Held by a dvm between its look at the code of processes and the write of jumps or breakpoints there, so that no other dvm of
// this machine writes in between.
//
// The lock is a name of a socket, which users share without a file, and which the kernel gives back when its holder dies.

#include "common/file_descriptor.h"

namespace dvm::runtime {

class PlacingLock {
 public:
  // Waits some seconds for a holder that has been stopped, and goes on without the lock then.
  PlacingLock();
  bool is_held() const { return static_cast<bool>(socket_); }

 private:
  FileDescriptor socket_;
};

}  // namespace dvm::runtime
