#pragma once
// Equation (1), the flow of a firing:
//
//   flow(K) = sum of Stage(K, x) + Cost_DVM_prepare + M * E(Cost_ECB_prepare)
//
// K is the source, x its stages (flow_stages.def), M the number of ECBs on the probe.

#include <string_view>

#include "runtime/cost/prices.h"

namespace dvm::runtime {

// The sum of Stage(K, x). A source of which no stage is priced is missing; a site in a process costs what
// any does (pid) then.
// event_bytes: of a replayed event.
vm::Cost source_cost(Prices& prices, std::string_view source, double event_bytes = 0);

// Stage(K, x), one of them.
vm::Cost stage_cost(const Prices& prices, std::string_view source, FlowStage stage, double event_bytes = 0);

// Those of them that pass in the traced thread; the others are dvm's. Firings of a recording have none.
vm::Cost thread_cost(const Prices& prices, std::string_view source);

inline vm::Cost flow(const vm::Cost& source, const vm::Cost& prepare_machine, const vm::Cost& prepare_ecb, double ecbs) {
  return source + prepare_machine + prepare_ecb.times(ecbs);
}

}  // namespace dvm::runtime
