#pragma once
// Predictions for people (a table, an SVG drawing) and for machines (JSON). A prediction always says that it is one, and of which
// machine.

#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lab/validate/program_validation.h"
#include "runtime/cost/paper.h"
#include "runtime/cost/predict.h"
#include "runtime/cost/runs/firing_model.h"

namespace dvm::cmd {

// Rows that cost nothing in what was said, since the profile has no price of them; with the reason where no profile of dvm has
// one. Each line begins with the indent; empty if there are none.
std::string unpriced_text(const std::set<std::string>& rows, std::string_view indent = "");

struct PredictionContext {
  const vm::Profile& profile;
  unsigned cpus;       // that threads can fire on at once
  double counted = 0;  // for so many seconds, how often probes fire
  std::string engine = "interp";
  // Engine auto: the prediction of the same clauses as machine code, and when they change to it. Null: the profile has no prices.
  const runtime::Prediction* later = nullptr;
  std::vector<runtime::EngineChange> changes;
};

void print_prediction(std::FILE* out, const runtime::Prediction& prediction, const PredictionContext& context);
void print_prediction_json(std::FILE* out, const runtime::Prediction& prediction, const PredictionContext& context);
// A bar of stages for each clause's probe.
std::string draw_prediction(const runtime::Prediction& prediction, const PredictionContext& context);

struct ValidatedScript {
  std::string script;
  lab::Validated result;
};
void print_validated(std::FILE* out, const std::vector<ValidatedScript>& rows, const vm::Profile& profile,
                     std::string_view engine);
void print_validated_json(std::FILE* out, const std::vector<ValidatedScript>& rows, const vm::Profile& profile,
                          std::string_view engine);

void print_experiments(std::FILE* out, const std::vector<runtime::ExperimentResult>& results, const vm::Profile& profile);
void print_experiments_json(std::FILE* out, const std::vector<runtime::ExperimentResult>& results, const vm::Profile& profile);

}  // namespace dvm::cmd
