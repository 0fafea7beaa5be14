#pragma once
// A lock that a dvm holds from when it reads the code of processes until it has written jumps or breakpoints there, so that no
// other dvm of this machine writes in between.
//
// The lock is the name of a socket. Users share it without a file, and the kernel releases it when its holder dies.

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
