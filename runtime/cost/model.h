#pragma once
// The cost model: Tao and Yang, "Performance Model of Dynamic Tracing System", Computer Engineering 35(10), 2009. Each equation
// is a function here; docs/cost-model.md has them as formulas. Costs are in clocks of the profile's machine, with their spread.

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "dvm/dif/program.h"
#include "runtime/cost/prices.h"
#include "runtime/instrument/capture.h"
#include "runtime/instrument/pace.h"

namespace dvm::runtime {

// (1)  flow(K) = sum of Stage(K, x) + Cost_DVM_prepare + M * E(Cost_ECB_prepare)
//
// K is the source, x its stages (flow_stages.def), M the number of ECBs on the probe.

// The sum of Stage(K, x). If no stage of the source has a price, it counts as missing; a site in a process then costs what `pid`
// costs. event_bytes: of a replayed event.
vm::Cost source_cost(Prices& prices, std::string_view source, double event_bytes = 0);
// One Stage(K, x).
vm::Cost stage_cost(const Prices& prices, std::string_view source, FlowStage stage, double event_bytes = 0);
// The stages in the traced thread; the others are dvm's. Firings of a recording have none.
vm::Cost thread_cost(const Prices& prices, std::string_view source);

inline vm::Cost flow(const vm::Cost& source, const vm::Cost& prepare_machine, const vm::Cost& prepare_ecb, double ecbs) {
  return source + prepare_machine + prepare_ecb.times(ecbs);
}

// (2)  pred_i   = sum of its instructions but CALL + sum of the built-in variables read + sum of the subroutines called
// (3)  action_i = sum over its DIFOs, as in (2) + sum of its aggregating functions + sum of its other actions
//
// The sums over a DIFO are those of vm::price_difo: a CALL costs what its subroutine costs, a load of a built-in variable what
// the variable costs.

// What the instructions of a clause's DIFOs did in a run, as EcbAccount has it; empty: not known.
using ClauseCounts = std::span<const vm::InstructionCounts>;

// (2). Nothing for a clause without a predicate.
vm::CostRange predicate_cost(Prices& prices, const dif::EcbDesc& clause, ClauseCounts instructions = {});
// (3). committed: bytes that a commit() finds in its speculation.
vm::CostRange actions_cost(Prices& prices, const dif::EcbDesc& clause, double committed, ClauseCounts instructions = {});
// Whether the clause leaves a record for the consumer: it records something, or has no actions at all.
bool leaves_record(const dif::EcbDesc& clause);

// (4)  Cost(Probe) = flow + sum over its ECBs of (pred_i + Prob_i * action_i)
//
// Prob_i is the share of firings whose predicate holds; without a predicate pred_i is 0 and Prob_i is 1. In the cheapest firing
// no predicate holds, in the dearest all do.
struct EcbCost {
  bool has_predicate = false;
  double probability = 1;
  vm::CostRange predicate, actions;
};

inline vm::CostRange firing_cost(const vm::Cost& flow, const std::vector<EcbCost>& ecbs) {
  vm::CostRange sum{flow, flow, flow};
  for (const EcbCost& ecb : ecbs) {
    sum += ecb.predicate;
    sum.expected += ecb.actions.expected.times(ecb.probability);
    sum.dearest += ecb.actions.dearest;
    if (!ecb.has_predicate) sum.cheapest += ecb.actions.cheapest;
  }
  return sum;
}
//
//   (1)     flow.h      what a firing costs besides its ECBs, by the source that it comes from
//   (2) (3) ecb.h       a predicate; the actions of a clause
//   (4)     firing.h    a firing: flow and its ECBs
//   (5) (6) consumer.h  one copy-out of the buffers; the consumer, by the second
//   (7) (8) total.h     a whole run, and what of it is user and what system time

#include "runtime/cost/consumer.h"
#include "runtime/cost/ecb.h"
#include "runtime/cost/firing.h"
#include "runtime/cost/flow.h"
#include "runtime/cost/total.h"
