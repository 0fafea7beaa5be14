#pragma once
// Processes whose dynamic linker has mapped files. They wait in code of the agent until probes have been placed in these files
// (inside/watch.h), unless dvm is stopped or slow. Tested by tests/runtime/scenarios/test_loads.py.

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "runtime/instrument/abilities.h"
#include "runtime/instrument/agent/lost_probes.h"
#include "runtime/symbol/elf.h"
#include "runtime/symbol/linker.h"

namespace dvm::runtime {

class LoadHolds {
 public:
  // Processes with an agent wait from now on.
  void watch(const AgentTargets& targets);
  // An error says why the process of the linker does not.
  Status watch(const AgentTargets& targets, const LinkerSite& linker);
  // Other processes that do not, since the last call.
  std::set<pid_t> take_unwatched() { return std::exchange(unwatched_, {}); }
  // Adds the processes that have begun to wait since the last call.
  void take(const AgentTargets& targets, std::vector<LoadedIn>& loads);
  // True if the process waits: probes that are placed in it are on before the new code runs, or are counted as late.
  bool has(pid_t pid) const { return waiting_.contains(pid); }
  // They run on.
  void settle(const AgentTargets& targets);
  // Notes which processes have run on too early. Call before targets go.
  void note_late(const AgentTargets& targets);
  // How often a process has run on too early since the last call.
  uint64_t take_late(const AgentTargets& targets);

 private:
  void begin(AgentTarget& target);
  void note_late(AgentTarget& target, const inside::LoadTurns& turns);

  std::set<pid_t> waiting_, unwatched_;
  ElfCache linkers_;
  uint64_t late_ = 0;
};

}  // namespace dvm::runtime
