// Covered by tests/runtime/scenarios/test_agent_faults.py and test_agent_hostile.py.

#include "runtime/instrument/agent/yielded_probes.h"

#include <time.h>

#include "common/clock.h"
#include "runtime/agent/abandon.h"
#include "runtime/agent/unfit_sites.h"
#include "runtime/instrument/agent/agent_notes.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

// ns: for handlers that a system call of the program's own has installed
constexpr uint64_t kHandlersEvery = 20'000'000;

}  // namespace

void YieldedProbes::look(AgentTargets& targets, uint64_t now, std::vector<std::string>& notes) {
  const bool looks = now - looked_ >= kHandlersEvery;
  if (looks) looked_ = now;
  for (auto& [pid, target] : targets) {
    if (!target->lanes) continue;
    if (!target->lanes->is_left())
      target->answers.forget_old(now);
    else if (target->answers.is_due(now))
      leave(pid, *target, notes);
    if (!target->agent.is_on() || target->lanes->is_left()) continue;
    if (looks) yield_disturbed(pid, *target, notes);
    if (!target->agent.is_on()) continue;
    const uint64_t raised = target->faults.raised();
    if (lost_.empty()) target->agent.note_raised(raised);  // others have the probes by now
    if (raised == 0) continue;
    const uint64_t handled = target->lanes->handled() | (looks ? handled_signals(pid) & ~kFileData : 0);
    if ((handled & raised) != 0) yield(pid, *target, handled, notes);
  }
}

// The process may be about to do something with the mappings. A followed one, with the same lanes, may ask later.
void YieldedProbes::leave(pid_t pid, AgentTarget& target, std::vector<std::string>& notes) {
  const bool was_on = target.agent.is_on();
  if (target.agent.disable(Mappings::keep)) {
    target.lanes->answer();
    target.agent.abandon_lanes(target.answers.is_first() ? kPatientTries : kFewTries);
  }
  target.answers.note_answer(read_clock(CLOCK_MONOTONIC));
  if (was_on && !target.agent.is_on()) notes.push_back(left_text(pid));
}

void YieldedProbes::yield(pid_t pid, AgentTarget& target, uint64_t handled, std::vector<std::string>& notes) {
  std::vector<PlacedProbe> probes = target.take_off(handled);
  if (probes.empty()) return;
  notes.push_back(yielded_text(pid, probes.front().enabled.probe->function, probes.size()));
  lose(std::move(probes), kRaises);
}

void YieldedProbes::yield_disturbed(pid_t pid, AgentTarget& target, std::vector<std::string>& notes) {
  const std::vector<uint64_t> jumps = target.agent.find_disturbed();
  if (jumps.empty()) return;
  std::vector<PlacedProbe> probes;
  const bool leaves = target.agent.must_leave(jumps);
  if (!leaves) probes = target.take_off(jumps);
  if (leaves && target.agent.disable(Mappings::keep)) probes = target.placed.take_lost({});
  target.agent.clear_children();
  if (!probes.empty()) notes.push_back(disturbed_text(pid, probes.front().enabled.probe->function, probes.size(), leaves));
  lose(std::move(probes), kChanged);
}

void YieldedProbes::lose(std::vector<PlacedProbe> probes, std::string_view why) {
  for (PlacedProbe& one : probes) lost_.push_back({std::move(one.enabled), std::string(why)});
}

}  // namespace dvm::runtime
