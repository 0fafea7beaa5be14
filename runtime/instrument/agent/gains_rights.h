#pragma once
// Checks whether a program that a thread is about to execute gets rights by its file: set-user-ID, set-group-ID or capabilities.
// The kernel withholds these from a program that is traced by a user.

#include <sys/types.h>

#include <cstdint>

namespace dvm::runtime {

// Arguments of execve(2), where folder is AT_FDCWD, or of execveat(2).
struct ExecCall {
  pid_t pid = 0, tid = 0;
  int folder = 0;
  uint64_t path = 0;  // an address in the process
};

// False also where there is no such file for dvm. True also if it cannot be read.
bool gains_rights(const ExecCall& call);

}  // namespace dvm::runtime
