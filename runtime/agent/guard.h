#pragma once
// A process that outlives dvm. If dvm ends without removing its agents, the guard removes them. It has its own session, so that
// signals to dvm's process group do not reach it. It closes all files of dvm except the memory of the traced process.

#include <sys/types.h>

#include <utility>

#include "common/file_descriptor.h"
#include "dvm/common/result.h"

namespace dvm::runtime {

class AgentGuard {
 public:
  // follows: it also takes care of what the process forks, for as long as dvm lives.
  static Result<AgentGuard> start(pid_t traced, bool follows);
  AgentGuard(AgentGuard&& other) noexcept = default;
  AgentGuard& operator=(AgentGuard&& other) noexcept = default;
  // Leaves the detaching to the guard, which tries for at least some seconds.
  void hand_over();
  // Ends the guard: nothing is left to do.
  ~AgentGuard();

 private:
  explicit AgentGuard(FileDescriptor dismissal) : dismissal_(std::move(dismissal)) {}
  FileDescriptor dismissal_;  // written to when the guard may end
};

}  // namespace dvm::runtime
