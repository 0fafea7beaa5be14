// Tested by tests/runtime/scenarios/test_captures.py.

#include "runtime/session/late_memory.h"

#include <fmt/format.h>

#include <variant>

#include "runtime/session/placements.h"

namespace dvm::runtime {
namespace {

// True if the thread waits for dvm at a firing, or runs all clauses itself, or if the firings were recorded.
bool reads_in_time(unsigned clause, const Probe& probe, const BackendList& backends) {
  EcbPlan plan;
  plan.clause = clause;
  const std::string by = placement_of(plan, probe, backends).by;
  return by.empty() || by == "replay" || by.starts_with("breakpoint") || by == "agent, in the traced thread";
}

}  // namespace

bool is_fired_by_dvm(const Probe& probe) {
  const auto* timer = std::get_if<TimerSite>(&probe.site);
  return is_own(probe) || (timer != nullptr && !timer->every_cpu);
}

std::vector<std::string> LateMemoryNotes::take(std::span<const EnabledProbe> probes, std::span<const Refused> refused,
                                               const BackendList& backends) {
  std::set<const Probe*> left_out;
  for (const Refused& one : refused) left_out.insert(one.probe);
  std::vector<std::string> notes;
  for (const EnabledProbe& enabled : probes) {
    const Probe& probe = *enabled.probe;
    if (enabled.late.empty() || is_fired_by_dvm(probe) || left_out.contains(&probe)) continue;
    for (const LateMemory& late : enabled.late)
      if (!reads_in_time(late.clause, probe, backends) && told_.emplace(late.clause, late.variable).second)
        notes.push_back(
            fmt::format("dt_clause_{} {}:{}:{}:{}: the memory at {} is read after the firing, and may have changed by then",
                        late.clause, probe.provider, probe.module, probe.function, probe.name, late.variable));
  }
  return notes;
}

}  // namespace dvm::runtime
