// The paper's experiments. Covered by tests/unit/runtime/cost_model_test.cpp.

#include "runtime/cost/paper.h"

#include <fmt/format.h>

#include <cmath>

#include "runtime/cost/model.h"

namespace dvm::runtime {
namespace {

constexpr double kRead = 17.2238, kReadRate = 49562;          // read(2), untraced
constexpr double kFunction = 99.7370, kFunctionRate = 50665;  // the user function, untraced
constexpr double kIdle = 0.2647;

// The nine predicates of the ten clauses. The paper does not print their scripts; its costs of a firing, 8864 and 11665 clocks,
// are 9 * 170 + 5053 more than those of the one clause that counts.
constexpr double kNinePredicates = 5053;

constexpr Experiment kExperiments[] = {
    {"syscall, 1 clause", "syscall", 1, 0, 46631, true, 23.0302, kRead, kReadRate, 6.3063, 6.8250},
    {"fbt, 1 clause", "fbt", 1, 0, 43980, true, 27.0933, kRead, kReadRate, 13.1969, 11.8094},
    {"syscall, 10 clauses", "syscall", 10, kNinePredicates, 39389, true, 35.1013, kRead, kReadRate, 20.5874, 21.4128},
    {"fbt, 10 clauses", "fbt", 10, kNinePredicates, 36940, true, 38.9654, kRead, kReadRate, 25.3969, 26.1280},
    {"pid, 1 clause", "pid", 1, 0, 44717, false, 99.6833, kFunction, kFunctionRate, 11.9237, 11.6553},
    {"profile-50000", "profile", 1, 0, 50000, false, 9.4588, kIdle, 0, 9.0882, 9.1941},
};

vm::Cost experiment_firing(Prices& prices, const Experiment& experiment) {
  const vm::Cost all = flow(source_cost(prices, experiment.source).all, prices.of("prepare/machine"_row),
                            prices.of("prepare/ecb"_row), experiment.ecbs);
  const vm::Cost count = prices.of("aggregation/count"_row);
  return all + vm::Cost{experiment.predicates, 0} + count;
}

double measured(const Experiment& experiment) {
  if (experiment.untraced_rate == 0) return experiment.seen - experiment.untraced;
  return measured_share(experiment.seen, experiment.rate, experiment.untraced, experiment.untraced_rate);
}

// The paper goes on with the four digits that it prints.
double as_printed(double share) { return std::round(share * 1e4) / 1e4; }

double consumer_share(Prices& prices) {
  const vm::Cost clocks = consumer_cost(prices, {}, 1, copy_out(prices, 1024));
  return 100 * share_of_cpu(clocks.clocks, prices.profile().clock_hz);
}

}  // namespace

Result<std::vector<ExperimentResult>> predict_experiments(const vm::Profile& profile) {
  Prices prices(profile);
  const double consumer = as_printed(consumer_share(prices));
  std::vector<ExperimentResult> results;
  for (const Experiment& experiment : kExperiments) {
    const vm::Cost firing = experiment_firing(prices, experiment);
    const double share = 100 * share_of_cpu(probe_cost(firing, experiment.rate).clocks, profile.clock_hz);
    results.push_back({&experiment, firing.clocks, share + (experiment.with_consumer ? consumer : 0), measured(experiment)});
  }
  if (prices.missing().empty()) return results;
  return Error{fmt::format("profile {} has no price of {}", profile.name, fmt::join(prices.missing(), ", "))};
}

double paper_consumer(const vm::Profile& profile) {
  Prices prices(profile);
  return consumer_share(prices);
}

}  // namespace dvm::runtime
