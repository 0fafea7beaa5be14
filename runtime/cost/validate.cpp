// Covered by tests/runtime/scenarios/test_cost.py.

#include "runtime/cost/validate.h"

#include "dvm/runtime/handle.h"
#include "runtime/cost/calibrate/middle.h"
#include "runtime/cost/predict.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kCountedFirings = 1000;

// How often each predicate holds.
Status count_hits(const dif::Program& program, PredictOptions& options) {
  auto run = MadeUpRun::make(program, kCountedFirings, vm::CostPolicy::blocks);
  if (!run) return run.error();
  Handle& handle = (*run)->handle();
  (*run)->fire_all();
  if (Status stopped = handle.stop(); !stopped) return stopped;
  uint64_t faults = 0;
  for (const EcbAccount& ecb : handle.account().ecbs) {
    if (ecb.firings == 0) continue;
    faults += ecb.faults;
    options.probabilities[place_of(ecb.clause)] = static_cast<double>(ecb.predicate_hits) / static_cast<double>(ecb.firings);
  }
  if (faults != 0) return Error{"it faults: a firing that ends early is not predicted"};
  return {};
}

}  // namespace

Result<Validated> validate_program(const dif::Program& program, const vm::Profile& profile, const ScriptMeterOptions& options) {
  PredictOptions how;
  how.sizes.expected = kExecnameBytes;
  if (Status counted = count_hits(program, how); !counted) return counted.error();
  std::vector<double> samples;
  for (unsigned i = 0; i < options.samples; i++) {
    Result<ScriptSample> sample = time_program(program, options.firings);
    if (!sample) return sample.error();
    samples.push_back(sample->probe);
    how.event_bytes = sample->event_bytes;
  }
  const dif::Program* programs[] = {&program};
  const Prediction prediction = predict(programs, profile, how);
  Validated result;
  const double ns = 1e9 / profile.clock_hz;
  for (const ProbePrediction& probe : prediction.probes) {
    result.predicted += probe.firing.expected.clocks * ns;
    result.predicted_spread += probe.firing.expected.spread * ns;
  }
  const Middle all = middle(std::move(samples));
  result.measured = all.median;
  result.measured_spread = all.deviation();
  result.missing = prediction.missing;
  return result;
}

}  // namespace dvm::runtime
