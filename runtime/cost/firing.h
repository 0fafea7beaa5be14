#pragma once
// Equation (4), a firing of a probe:
//
//   Cost(Probe) = flow + sum over its ECBs of (pred_i + Prob_i * action_i)
//
// Prob_i is the share of firings whose predicate is true; without a predicate pred_i is 0 and Prob_i is 1. Its cheapest firing is
// one whose predicates are all false, the dearest one where all hold.

#include <vector>

#include "dvm/vm/path_cost.h"

namespace dvm::runtime {

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

}  // namespace dvm::runtime
