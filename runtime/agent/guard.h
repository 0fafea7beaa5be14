#pragma once
// A process that outlives dvm: when dvm ends without having taken its agents off, the guard does. It has a session of its own, so
// that signals to dvm's group do not reach it, and holds no file of dvm's but the memory of the traced process.

#include <sys/types.h>

#include "dvm/common/result.h"

namespace dvm::runtime {

class AgentGuard {
 public:
  // follows: it also takes care of what the process forks, for as long as dvm lives.
  static Result<AgentGuard> start(pid_t traced, bool follows);
  AgentGuard(AgentGuard&& other) noexcept;
  AgentGuard& operator=(AgentGuard&& other) noexcept;
  // Leaves the rest to the guard, which tries for some seconds at least.
  void hand_over();
  // Dismisses the guard: nothing is left to do.
  ~AgentGuard();

 private:
  explicit AgentGuard(int dismissal) : dismissal_(dismissal) {}
  int dismissal_ = -1;  // written to when the guard may end
};

}  // namespace dvm::runtime
