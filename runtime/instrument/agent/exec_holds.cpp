// Tested by tests/runtime/scenarios/test_lost_probes.py and test_wrappers.py.

#include "runtime/instrument/agent/exec_holds.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/instrument/agent/exec_hold.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {
namespace {

// False if it has ended, or is about to and has no files any more. Another process may have its number then.
bool runs_program(pid_t pid, AgentTarget& target) {
  if (!target.process || target.process->has_exited()) return false;
  const auto objects = mapped_objects(pid);
  return objects && !objects->empty();
}

}  // namespace

// A thread that tells of an exec is held. One that does not tell, or does not wait long enough for dvm, leaves the memory of the
// agent behind.
ExecHold ExecHolds::look_at(pid_t pid, AgentTarget& target, bool by_memory) {
  const auto is_over = [&] { return target.is_over(); };
  LaneReader& lanes = *target.lanes;
  const auto tid = static_cast<pid_t>(lanes.becoming());
  ExecHold hold = ExecHold::unknown;
  if (tid > 0) {
    hold = hold_exec(
        pid, tid, [&] { lanes.hold(static_cast<uint64_t>(tid)); }, is_over);
    lanes.hold(0);
  }
  if (hold == ExecHold::unknown)
    hold = by_memory && is_over() && (tid > 0 || runs_program(pid, target)) ? ExecHold::missed : ExecHold::none;
  target.has_become_other = hold != ExecHold::none && is_over();
  return hold;
}

std::vector<LoadedIn> ExecHolds::take(const AgentTargets& targets, std::vector<LoadedIn> loads, Lateness late, bool by_memory) {
  executed_.clear();
  missed_.clear();
  for (const LoadedIn& load : loads)
    if (by_memory) executed_.insert(load.pid);
  for (const auto& [pid, target] : targets) {
    if (!target->lanes || !target->agent.is_on() || target->has_become_other || held_.contains(pid)) continue;
    const ExecHold hold = look_at(pid, *target, by_memory);
    if (hold == ExecHold::missed) miss(pid, late);
    if (hold != ExecHold::held) continue;
    held_.insert(pid);
    if (executed_.insert(pid).second) loads.push_back({pid, pid});
  }
  return loads;
}

void ExecHolds::miss(pid_t pid, Lateness late) {
  missed_.push_back(pid);
  if (unsigned& times = late.times[pid]; std::exchange(times, std::max(times, 1U)) != 0) return;
  late.notes.push_back(fmt::format(
      "process {} has executed a program that could not be held; what it fires before its probes are on is lost", pid));
}

void ExecHolds::settle(const HoldsThreads* others) {
  for (const pid_t pid : held_)
    if (others == nullptr || !others->holds(pid)) end_hold(pid);
  held_.clear();
}

}  // namespace dvm::runtime
