// Tested by tests/runtime/scenarios/test_agent_in_thread.py.

#include "runtime/instrument/agent/clause_places.h"

#include "runtime/instrument/agent/agent_target.h"

namespace dvm::runtime {

bool ClausePlaces::note(const AgentFirer& firer, const Probe* probe, InDvm reason) {
  const bool has_code = !firer.steps.empty(), has_records = has_step(firer, inside::ClauseStep::Kind::clause_record);
  const bool is_in_thread = has_code && (reason == InDvm::nothing || has_records);
  if (has_code) (is_in_thread ? in_thread_ : gated_).insert(probe);
  if (!is_in_thread || has_records) in_dvm_[probe] = reason;
  return is_in_thread;
}

bool ClausePlaces::note(const AgentSite& site, std::span<const Probe* const> probes, std::span<const InDvm> reasons) {
  bool is_any = false;
  for (size_t i = 0; i < site.firers.size() && i < probes.size(); i++)
    if (site.firers[i].tail != inside::Tail::leaves) is_any |= note(site.firers[i], probes[i], reasons[i]);
  return is_any;
}

std::string_view ClausePlaces::way(const Probe& probe) const {
  if (gated_.contains(&probe)) return "agent, predicates in the traced thread";
  if (!in_thread_.contains(&probe)) return "agent";
  return in_dvm_.contains(&probe) ? "agent, in the traced thread but for some clauses" : "agent, in the traced thread";
}

std::string_view ClausePlaces::in_dvm(const Probe& probe) const {
  const auto found = in_dvm_.find(&probe);
  return found == in_dvm_.end() ? std::string_view() : text_of(found->second);
}

}  // namespace dvm::runtime
