#pragma once
// Makes the model of a firing for a simulation, from programs and prices. For option engine=auto, finds the time at which each
// clause has cost as much as its translation is expected to cost (runtime/session/translations.h), by a run's first estimates.

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/dif/option.h"
#include "runtime/cost/predict.h"
#include "runtime/cost/simulate.h"

namespace dvm::runtime {

// Probes are weighted by options.rates or, without any, equally. run: its options. missing: receives the rows without a price.
Result<FiringModel> model_firing(std::span<const dif::Program* const> programs, const vm::Profile& profile,
                                 PredictOptions options, const dif::Options& run, std::set<std::string>& missing);

SimulatedBuffers buffers_of(const dif::Options& options);

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
