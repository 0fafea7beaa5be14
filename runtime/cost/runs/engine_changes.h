#pragma once
// Option engine=auto in predictions: when each clause will have cost what its translation is expected to cost
// (runtime/session/translations.h). By the estimates with which a run begins; a run goes on with measured prices.

#include <optional>
#include <vector>

#include "runtime/cost/predict.h"

namespace dvm::runtime {

struct EngineChange {
  size_t clause = 0;  // ClausePrediction::number
  dif::SourcePosition position;
  double firings = 0;             // that are interpreted before, on all probes of the clause
  std::optional<double> seconds;  // from the start; none: no rate is known
};

// In the order of the clauses, those that cost something. `prediction` is one of the interpreter. At known rates, the first
// translation pays for loading LLVM; otherwise each clause is taken to be the first.
std::vector<EngineChange> engine_changes(const Prediction& prediction, double clock_hz);

}  // namespace dvm::runtime
