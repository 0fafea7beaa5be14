#pragma once
// Option engine=auto in predictions: the time at which each clause has cost as much as its translation is expected to cost
// (runtime/session/translations.h). Uses the initial estimates of a run; a run itself replaces them by measured prices.

#include <optional>
#include <vector>

#include "runtime/cost/predict.h"

namespace dvm::runtime {

struct EngineChange {
  size_t clause = 0;  // ClausePrediction::number
  dif::SourcePosition position;
  double firings = 0;             // interpreted before the change, on all probes of the clause
  std::optional<double> seconds;  // from the start; nothing: no rate is known
};

// The changes in the order of the clauses, without clauses that cost nothing. prediction: for the interpreter. If rates are
// known, the first translation includes loading LLVM; otherwise each one does.
std::vector<EngineChange> engine_changes(const Prediction& prediction, double clock_hz);

}  // namespace dvm::runtime
