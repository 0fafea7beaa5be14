#pragma once
// Predictions of scripts: dvm cost predict, and dvm run --predict before it enables.

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "cmd/command.h"
#include "dvm/common/result.h"
#include "dvm/runtime/handle.h"
#include "runtime/cost/rows.h"

namespace CLI {
class App;
}

namespace dvm::cmd {

struct ScriptOptions;

struct PredictionOptions {
  std::string profile;
  std::vector<std::string> rates;  // --rate: DESCRIPTION=N
  std::string sample;              // --sample: a time; empty: nothing is counted
  std::string probability;         // --prob: a number, or "measured"; empty: 0.5
  double string_bytes = 16;
  double frames = 10;
  double returns = 0;
  double faults = 0;
  double heap = 0.5;
  double wakes = runtime::kUsualWakes;
  double keys = 10;
  unsigned cpus = std::max(1u, std::thread::hardware_concurrency());

  bool measures_clauses() const { return probability == "measured"; }
};

// --profile, --rate, --sample, --prob, --strings, --cpus. needs_also: the flag without which they mean nothing.
void add_prediction_options(CLI::App& command, PredictionOptions& options, const std::string& needs_also = "");

// Prints the predicted cost of the programs of a run, before their probes are enabled in the processes. Counts their rates
// first, if that is wanted. The handle has enabled the programs.
Status print_run_prediction(std::FILE* out, runtime::Handle& handle, const std::vector<const dif::Program*>& programs,
                            const ScriptOptions& script, const PredictionOptions& given);

void add_predict(CLI::App& cost, CommandAction& chosen);

}  // namespace dvm::cmd
