#pragma once
// The cost of a firing by an agent:
//
//   site     stub + gates + lane + sum over the clauses of (predicate + Prob * actions)                    all in the thread
//            of a clause with a record of its own, Prob * (record + captures)                              in the thread
//            Prob * (reading the record + preparation + actions)                                           in dvm
//   record   stub + gates + P * (lane + record + captures)                                                 in the thread
//            P * (reading the record + preparation) + sum over the clauses of (predicate + Prob * actions)  in dvm
//
// Gates are predicates that are evaluated before anything else. If all of them are false, the firing ends, so P is the
// probability that one of them is true; without gates it is 1. In a clause at its site the gates are evaluated once more.

#include <span>
#include <vector>

#include "runtime/cost/agent_way.h"
#include "runtime/cost/model.h"
#include "runtime/cost/prices.h"

namespace dvm::runtime {

struct AgentCost {
  vm::Cost stub;                         // with the lane, and the code of all sites
  vm::CostRange thread, dvm;             // of a firing
  std::vector<EcbCost> clauses, in_dvm;  // at the site: in the thread, and in dvm; of one record for all empty
  double reached = 1;                    // P
};

// prices: those of the agent. clauses: as dvm runs them. prepared: what dvm does before the clause of each record.
AgentCost cost_at_site(Prices& prices, Prices& dvm, const AgentWay& way, std::span<const EcbCost> clauses,
                       std::span<const vm::Cost> prepared);
// clauses: as dvm runs them. prepare: of those. captured: of the record.
AgentCost cost_by_record(Prices& prices, const AgentWay& way, std::span<const EcbCost> clauses, const CaptureCost& captured,
                         const vm::Cost& prepare);
// P.
double reached(const AgentWay& way, std::span<const EcbCost> clauses);

}  // namespace dvm::runtime
