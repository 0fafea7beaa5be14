// Tested by tests/runtime/scenarios/test_lost_probes.py.

#include "runtime/instrument/agent/lost_probes.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "common/clock.h"
#include "runtime/agent/detach.h"
#include "runtime/instrument/agent/agent_notes.h"
#include "runtime/process/process.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {
namespace {

// One that ends has no files.
std::vector<MappedObject> files_of(pid_t pid) {
  auto found = mapped_objects(pid);
  return found ? *std::move(found) : std::vector<MappedObject>();
}

// Lanes are read once more before.
void end_losses(AgentTargets& targets) {
  for (auto& [pid, target] : targets) {
    if (!target->lanes) continue;
    target->lanes->collect();
    target->lanes->end_losses();
  }
}

}  // namespace

AgentTarget* live_target(const AgentTargets& targets, pid_t pid) {
  const auto [first, last] = targets.equal_range(pid);
  const auto found = std::find_if(first, last, [](const auto& one) { return !one.second->is_over(); });
  return found == last ? nullptr : found->second.get();
}

std::set<pid_t> without_agent(const AgentTargets& targets, std::span<const EnabledProbe> probes) {
  std::set<pid_t> found;
  for (const EnabledProbe& one : probes)
    if (const pid_t pid = std::get<UprobeSite>(one.probe->site).pid; live_target(targets, pid) == nullptr) found.insert(pid);
  return found;
}

uint64_t copied_bytes(const AgentTargets& targets) {
  uint64_t bytes = 0;
  for (const auto& [pid, target] : targets)
    if (target->lanes) bytes += target->lanes->bytes();
  return bytes;
}

std::vector<std::string> unsteady_texts(const AgentTargets& targets) {
  std::vector<std::string> all;
  for (const auto& [pid, target] : targets) {
    const std::string_view problem = target->agent.steady_problem(), why = problem.empty() ? target->unsteady : problem;
    if (!why.empty()) all.push_back(unsteady_text(pid, why));
  }
  return all;
}

uint64_t lost_firings(const AgentTargets& targets) {
  uint64_t lost = 0;
  for (const auto& [pid, target] : targets) lost += target->lost();
  return lost;
}

AgentTarget* earliest_in(const AgentTargets& targets, LaneRecord& record, uint64_t& others) {
  AgentTarget* earliest = nullptr;
  others = UINT64_MAX;
  for (const auto& [pid, target] : targets) {
    const auto first = target->lanes ? target->lanes->first() : std::nullopt;
    if (!first) continue;
    const bool comes_later = earliest != nullptr && first->ticks >= record.ticks;
    if (earliest != nullptr) others = std::min(others, comes_later ? first->ticks : record.ticks);
    if (comes_later) continue;
    earliest = target.get();
    record = *first;
  }
  return earliest;
}

void take_off(AgentTargets& targets, std::vector<std::string>& notes) {
  end_losses(targets);
  for (auto& [pid, target] : targets) {
    if (target->has_crashed()) notes.push_back(crash_text(pid));
    const Status off = target->agent.disable(Mappings::unmap);
    if (off || kill(pid, 0) != 0) continue;
    target->agent.leave_to_guard();
    notes.push_back(kept_text(pid, off.error().message));
  }
}

void LostProbes::find(const AgentTargets& targets, uint64_t now) {
  looked_ = now;
  for (const auto& [pid, target] : targets)
    if (target->agent.is_on())
      if (std::vector<PlacedProbe> its = target->take_lost(); !its.empty() && !is_gone(pid)) wait(pid, std::move(its), now);
}

void LostProbes::wait(pid_t pid, std::vector<PlacedProbe> lost, uint64_t now) {
  std::vector<PlacedProbe>& its = waiting_[pid];
  std::move(lost.begin(), lost.end(), std::back_inserter(its));
  mappings_.note(pid, now);
}

void LostProbes::wait_or_lose(pid_t pid, std::vector<PlacedProbe>& probes, std::span<const Refused> refused, const Status& placed,
                              std::vector<LostProbe>& lost) {
  constexpr unsigned kMostAttempts = 3;
  std::vector<PlacedProbe> again;
  for (PlacedProbe& one : probes) {
    const auto found = std::find_if(refused.begin(), refused.end(), [&](auto& its) { return its.probe == one.enabled.probe; });
    if (placed && found == refused.end()) continue;
    if (one.attempts++ < kMostAttempts)
      again.push_back(std::move(one));
    else
      lost.push_back({std::move(one.enabled), placed ? found->reason : placed.error().message});
  }
  if (!again.empty()) wait(pid, std::move(again), read_clock(CLOCK_MONOTONIC));
}

std::vector<PlacedProbe> LostProbes::take_mapped(pid_t pid) {
  std::vector<PlacedProbe> mapped;
  const auto waiting = waiting_.find(pid);
  if (waiting == waiting_.end()) return mapped;
  const std::vector<MappedObject> files = files_of(pid);
  std::erase_if(waiting->second, [&](PlacedProbe& one) {
    if (!is_mapped(one, files)) return false;
    mapped.push_back(std::move(one));
    return true;
  });
  return mapped;
}

void LostProbes::take_mapped(std::span<const LoadedIn> loads, uint64_t now, ProbesByProcess& mapped) {
  std::set<pid_t> changed;
  for (const LoadedIn& load : loads) changed.insert(load.pid);
  for (const pid_t pid : mappings_.take_settled(now))
    if (changed.insert(pid).second) loads_.push_back({pid, pid});
  for (const pid_t pid : changed)
    for (PlacedProbe& one : take_mapped(pid)) mapped[pid].push_back(std::move(one));
}

bool LostProbes::has_foreign(const AgentTargets& targets, std::span<const LoadedIn> loads) {
  return std::any_of(loads.begin(), loads.end(), [&](const LoadedIn& load) {
    if (targets.contains(load.pid) || has_lanes_of(load.pid, getpid())) return false;
    const std::vector<MappedObject> files = files_of(load.pid);
    return std::any_of(targets.begin(), targets.end(), [&](const auto& one) {
      return std::any_of(files.begin(), files.end(), [&](auto& file) { return one.second->placed.has_file(file.open_path); });
    });
  });
}

}  // namespace dvm::runtime
