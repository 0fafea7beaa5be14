#pragma once
// What a counted run tells a prediction: by clause, in how many of its firings its predicate held, and how often each branch of
// its DIF was taken. A clause has an ECB on each of its probes: of all of them together.

#include "dvm/runtime/handle.h"
#include "runtime/cost/predict.h"

namespace dvm::runtime {

// Without the clauses that never fired.
MeasuredClauses measured_clauses(const Account& account);

}  // namespace dvm::runtime
