#pragma once
// Jumps that an agent takes off because of what a process does with itself, before dvm ends.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/instrument/agent/lost_probes.h"

namespace dvm::runtime {

class YieldedProbes {
 public:
  // All jumps of processes that are about to take away memory which these lead to; of processes that handle signals, those over
  // instructions that may raise these. now: in ns of CLOCK_MONOTONIC.
  void look(AgentTargets& targets, uint64_t now, std::vector<std::string>& notes);
  // Probes that others may make fire.
  std::vector<LostProbe> take_lost() { return std::exchange(lost_, {}); }

 private:
  static void leave(pid_t pid, AgentTarget& target, std::vector<std::string>& notes);
  void yield(pid_t pid, AgentTarget& target, uint64_t handled, std::vector<std::string>& notes);

  uint64_t looked_ = 0;
  std::vector<LostProbe> lost_;
};

}  // namespace dvm::runtime
