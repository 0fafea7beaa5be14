#pragma once
// The paper's experiments (its table 7), predicted with its own parameters. A loop of read(2) or of a user function fires a probe
// some 50,000 times a second; its clause counts. Shares are per cent of one CPU.

#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/vm/profile.h"

namespace dvm::runtime {

struct Experiment {
  std::string_view name;
  std::string_view source;
  unsigned ecbs;
  double predicates;               // clocks of all predicates, which are false
  double rate;                     // firings a second
  bool with_consumer;              // adds the consumer's time
  double seen;                     // share of the CPU when traced
  double untraced, untraced_rate;  // share and rate when not traced; rate 0: the machine is idle
  double published_prediction, published_measurement;
};

struct ExperimentResult {
  const Experiment* experiment;
  double firing;     // clocks
  double predicted;  // per cent
  double measured;
  // The error of the prediction, in per cent of the measured cost.
  double error() const { return 100 * (predicted - measured) / measured; }
};

// Predicts all experiments. An error names the rows without a price.
Result<std::vector<ExperimentResult>> predict_experiments(const vm::Profile& profile);

// Per cent of a CPU that the paper's consumer takes: one wake-up a second, 1 KB of records.
double paper_consumer(const vm::Profile& profile);

}  // namespace dvm::runtime
