// Tested by tests/runtime/scenarios/test_lost_probes.py.

#include "runtime/instrument/agent/exec_holds.h"

#include <fmt/format.h>

#include "runtime/instrument/agent/exec_hold.h"

namespace dvm::runtime {

std::vector<LoadedIn> ExecHolds::take(const AgentTargets& targets, std::vector<LoadedIn> loads, Lateness late) {
  for (const auto& [pid, target] : targets) {
    const auto tid = target->lanes && target->agent.is_on() ? static_cast<pid_t>(target->lanes->becoming()) : 0;
    if (tid <= 0 || held_.contains(pid)) continue;
    LaneReader& lanes = *target->lanes;
    const ExecHold hold = hold_exec(pid, tid, [&] { lanes.hold(static_cast<uint64_t>(tid)); });
    lanes.hold(0);
    if (hold == ExecHold::missed && late.times[pid]++ == 0)
      late.notes.push_back(fmt::format(
          "process {} has executed a program that could not be held; what it fires before its probes are on is lost", pid));
    if (hold != ExecHold::held) continue;
    held_.insert(pid);
    loads.push_back({pid, pid});
  }
  return loads;
}

void ExecHolds::settle(const HoldsThreads* others) {
  for (const pid_t pid : held_)
    if (others == nullptr || !others->holds(pid)) end_hold(pid);
  held_.clear();
}

}  // namespace dvm::runtime
