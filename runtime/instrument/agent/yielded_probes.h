#pragma once
// Takes jumps off before the end of the run, because of actions of the process.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/instrument/agent/lost_probes.h"

namespace dvm::runtime {

class YieldedProbes {
 public:
  // Takes off all jumps of processes that are about to unmap or change memory of dvm. If a process is about to handle signals,
  // takes off the jumps over instructions that may raise these. Jumps that uprobes of other tools have disturbed are taken off,
  // or all of the process if it cannot be watched any more. now: in ns of CLOCK_MONOTONIC.
  void look(AgentTargets& targets, uint64_t now, std::vector<std::string>& notes);
  // The probes of these jumps, which other instruments may take.
  std::vector<LostProbe> take_lost() { return std::exchange(lost_, {}); }

 private:
  static void leave(pid_t pid, AgentTarget& target, std::vector<std::string>& notes);
  void yield(pid_t pid, AgentTarget& target, uint64_t handled, std::vector<std::string>& notes);
  void yield_disturbed(pid_t pid, AgentTarget& target, std::vector<std::string>& notes);
  void lose(std::vector<PlacedProbe> probes, std::string_view why);

  uint64_t looked_ = 0;
  std::vector<LostProbe> lost_;
};

}  // namespace dvm::runtime
