#pragma once
// Equations (2) and (3), an ECB:
//
//   pred_i   = sum of its instructions but CALL + sum of the built-in variables read + sum of the subroutines called
//   action_i = sum over its DIFOs, as in (2) + sum of its aggregating functions + sum of its other actions
//
// The sums over a DIFO are those of vm::price_difo: a CALL costs what its subroutine costs, an LDGS of a built-in variable what
// the variable costs.

#include <span>

#include "dvm/dif/program.h"
#include "runtime/cost/prices.h"

namespace dvm::runtime {

// What the instructions of a clause's DIFOs did in a run, as EcbAccount has it; empty: not known.
using ClauseCounts = std::span<const vm::InstructionCounts>;

// (2). A clause without a predicate: nothing.
vm::CostRange predicate_cost(Prices& prices, const dif::EcbDesc& clause, ClauseCounts instructions = {});
// Whether the consumer hears of it: it records something, or has no actions at all.
bool leaves_record(const dif::EcbDesc& clause);
// (3).
// committed: bytes that a commit() finds in its speculation.
vm::CostRange actions_cost(Prices& prices, const dif::EcbDesc& clause, double committed, ClauseCounts instructions = {});

}  // namespace dvm::runtime
