#pragma once
// Processes that execute other programs, which are held until their probes have been placed (exec_hold.h).

#include <sys/types.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/instrument/abilities.h"
#include "runtime/instrument/agent/lost_probes.h"

namespace dvm::runtime {

// How often probes of a process have come late; the first time is noted.
struct Lateness {
  std::map<pid_t, unsigned>& times;
  std::vector<std::string>& notes;
};

class ExecHolds {
 public:
  // Adds to these loads the processes that stand at the beginning of another program since the last call.
  std::vector<LoadedIn> take(const AgentTargets& targets, std::vector<LoadedIn> loads, Lateness late);
  // What is placed in it is on before the program runs.
  bool has(pid_t pid) const { return held_.contains(pid); }
  const std::set<pid_t>& held() const { return held_; }
  // They run on, but for those that another instrument holds now.
  void settle(const HoldsThreads* others);

 private:
  std::set<pid_t> held_;
};

}  // namespace dvm::runtime
