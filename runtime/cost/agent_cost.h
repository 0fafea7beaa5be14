#pragma once
// The cost of a firing by an agent: equations (9) and (10) of docs/cost-model.md, which says what gates and P are.

#include <span>
#include <vector>

#include "runtime/cost/assumptions.h"
#include "runtime/cost/model.h"
#include "runtime/cost/prices.h"

namespace dvm::runtime {

struct AgentCost {
  vm::Cost stub;              // including the lane and the code that all sites share
  vm::CostRange thread, dvm;  // of a firing
  // Of clauses at the site: their costs in the thread and in dvm. Empty if one record serves all clauses.
  std::vector<EcbCost> clauses, in_dvm;
};

// The extra cost of a string key on the heap.
inline Row heap_string_row(const AgentWay& way) {
  return way.by_calls.empty() ? "agent/site/heap_string"_row : "agent/site/far_string"_row;
}
// prices: of the agent. clauses: their costs in dvm. prepared: what preparation for the record of each clause costs dvm.
AgentCost cost_at_site(Prices& prices, Prices& dvm, const AgentWay& way, std::span<const EcbCost> clauses,
                       std::span<const vm::Cost> prepared);
// clauses: their costs in dvm. prepare: the cost of their preparation. captured: the captures of the record.
AgentCost cost_by_record(Prices& prices, const AgentWay& way, std::span<const EcbCost> clauses, const CaptureCost& captured,
                         const vm::Cost& prepare);
// Records of a clause at its site, of a firing.
double records_of(const SiteUses& uses, const EcbCost& clause);
// The probability P.
double reached(const AgentWay& way, std::span<const EcbCost> clauses);

}  // namespace dvm::runtime
