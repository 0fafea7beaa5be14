// Tested by tests/runtime/scenarios/test_agent_in_thread.py.

#include "runtime/instrument/agent/clause_places.h"

#include <fmt/format.h>

namespace dvm::runtime {

bool ClausePlaces::note(const AgentFirer& firer, const EnabledProbe& enabled, InDvm reason) {
  const Probe* probe = enabled.probe;
  bool has_records = false;
  for (const AgentStep& step : firer.steps) {
    if (step.step.kind != inside::ClauseStep::Kind::clause_record) continue;
    has_records = true;
    recorded_.emplace(probe, enabled.clauses[step.record.clause].number);
  }
  const bool has_code = !firer.steps.empty();
  const bool is_in_thread = has_code && (reason == InDvm::nothing || has_records);
  if (has_code) (is_in_thread ? in_thread_ : gated_).insert(probe);
  if (!is_in_thread || has_records) in_dvm_[probe] = reason;
  return is_in_thread;
}

bool ClausePlaces::note(const AgentSite& site, std::span<const EnabledProbe* const> probes, std::span<const InDvm> reasons,
                        const std::string& by_calls) {
  const bool is_called = !by_calls.empty() && reads_memory(site);
  bool is_any = false;
  for (size_t i = 0; i < site.firers.size() && i < probes.size(); i++) {
    if (site.firers[i].tail == inside::Tail::leaves) continue;
    is_any |= note(site.firers[i], *probes[i], reasons[i]);
    if (is_called) by_calls_[probes[i]->probe] = by_calls;
  }
  return is_any;
}

ClauseWay ClausePlaces::way(const Probe& probe, unsigned clause) const {
  ClauseWay way = place(probe, clause);
  const auto found = by_calls_.find(&probe);
  if (found == by_calls_.end()) return way;
  std::string_view& last = !way.in_dvm.empty() ? way.in_dvm : !way.engine.empty() ? way.engine : way.by;
  last = *texts_.insert(fmt::format("{}; heap memory is read by system calls: {}", last, found->second)).first;
  return way;
}

ClauseWay ClausePlaces::place(const Probe& probe, unsigned clause) const {
  const bool is_in_thread = in_thread_.contains(&probe), is_recorded = recorded_.contains({&probe, clause});
  if (is_in_thread && !is_recorded) return {"agent, in the traced thread", "site code"};
  const auto found = in_dvm_.find(&probe);
  const std::string_view reason = found == in_dvm_.end() ? std::string_view() : text_of(found->second);
  if (gated_.contains(&probe)) return {"agent, predicates in the traced thread", {}, reason};
  return {is_in_thread ? "agent, with a record of its own" : "agent", {}, reason};
}

}  // namespace dvm::runtime
