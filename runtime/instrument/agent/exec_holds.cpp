// Tested by tests/runtime/scenarios/test_lost_probes.py and test_wrappers.py.

#include "runtime/instrument/agent/exec_holds.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "common/clock.h"
#include "runtime/instrument/agent/agent_notes.h"
#include "runtime/instrument/agent/exec_hold.h"
#include "runtime/instrument/late_loads.h"
#include "runtime/process/process.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kExecutesWithin = 1'000'000'000;  // ns, after it was about to

// False if it has ended, or is about to and has no memory any more. While the kernel executes a program, it has memory without
// files.
bool runs_program(pid_t pid, AgentTarget& target) {
  if (!target.process || target.process->has_exited()) return false;
  std::ifstream maps(memory_folder(pid) + "/maps");
  return maps.peek() != std::ifstream::traits_type::eof();
}

}  // namespace

void ExecHolds::miss(pid_t pid, bool runs, Lateness late) {
  Missed& its = all_missed_[pid];
  runs ? void(its.programs++) : void(its.has_ended = true);
  unsigned& times = late.times[pid];
  times = std::max(times, 1U);
}

void ExecHolds::take_notes(const AgentTargets& targets, std::vector<std::string>& notes) {
  if (const uint64_t late = loads_.take_late(targets); late > 0) notes.push_back(late_loads_text(late));
  for (const pid_t pid : loads_.take_unwatched())
    if (by_memory_) notes.push_back(unwatched_text(pid));
  for (const auto& [pid, its] : std::exchange(all_missed_, {})) {
    if (its.programs > 0) notes.push_back(missed_text(pid, its.programs));
    if (its.has_ended) notes.push_back(ended_text(pid));
  }
}

// A thread that tells of an exec is held. One that does not tell, or does not wait long enough for dvm, leaves the memory of the
// agent behind.
HeldExec ExecHolds::look_at(pid_t pid, AgentTarget& target, bool by_memory) {
  const auto is_over = [&] { return target.is_over(); };
  LaneReader& lanes = *target.lanes;
  const uint64_t own = lanes.becoming();
  const pid_t tid = own == 0 ? 0 : target.ids.of_dvm(own);
  HeldExec held{ExecHold::unknown, {}};
  const auto tell = [&](pid_t held_tid) { lanes.hold(held_tid == 0 ? 0 : own); };
  if (tid > 0) held = hold_exec(pid, tid, tell, is_over);
  const uint64_t now = read_clock(CLOCK_MONOTONIC);
  if (tid > 0) target.may_execute_until = held.result == ExecHold::unknown ? now + kExecutesWithin : 0;
  if (now >= target.may_execute_until && !is_over()) target.may_execute_until = 0;  // dvm may not have looked for long
  const auto may_have = [&] { return target.may_execute_until != 0 || runs_program(pid, target); };
  if (held.result == ExecHold::unknown) held.result = by_memory && is_over() && may_have() ? ExecHold::missed : ExecHold::none;
  target.has_become_other = held.result != ExecHold::none && is_over();
  return held;
}

std::vector<LoadedIn> ExecHolds::take(const AgentTargets& targets, std::vector<LoadedIn> loads, Lateness late, bool by_memory) {
  executed_.clear();
  missed_.clear();
  by_memory_ = by_memory;
  if (by_memory) loads_.take(targets, loads);
  for (const LoadedIn& load : loads)
    if (by_memory) executed_.insert(load.pid);
  for (const auto& [pid, target] : targets) {
    if (!target->lanes || !target->agent.is_on() || target->has_become_other || held_.contains(pid)) continue;
    HeldExec hold = look_at(pid, *target, by_memory);
    if (hold.result == ExecHold::missed) {
      if (!std::exchange(target->was_missed, true)) miss(pid, runs_program(pid, *target), late);
      if (by_memory && target->has_become_other) {
        hold = hold_next_exec(pid);
        if (hold.result == ExecHold::missed) miss(pid, true, late);
      }
      if (hold.result != ExecHold::held) missed_.push_back(pid);
    }
    if (hold.result != ExecHold::held) continue;
    held_.emplace(pid, std::move(hold.hold));
    if (executed_.insert(pid).second) loads.push_back({pid, pid});
  }
  return loads;
}

void ExecHolds::settle(const AgentTargets& targets, Lateness late) {
  loads_.watch(targets);
  loads_.settle(targets);
  for (const auto& [pid, hold] : held_)
    if (!release_inside(pid, hold)) miss(pid, !is_gone(pid), late);
  held_.clear();
}

}  // namespace dvm::runtime
