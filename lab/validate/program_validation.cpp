// Covered by tests/runtime/scenarios/test_calibrate.py.

#include "lab/validate/program_validation.h"

#include <utility>

#include "dvm/runtime/handle.h"
#include "lab/noise/middle.h"
#include "runtime/cost/runs/sample.h"

namespace dvm::lab {

using namespace runtime;
namespace {

constexpr uint64_t kCountedFirings = 1000;

// How often each predicate holds, and each branch is taken.
void count_ways(const dif::Program& program, PredictOptions& options) {
  MadeUpRun run(program, {.firings = kCountedFirings, .cost = vm::CostPolicy::blocks});
  Handle& handle = run.handle();
  run.fire_all();
  or_throw(handle.stop());
  options.measured = measured_clauses(handle.account());
}

}  // namespace

Result<ProgramValidation> ProgramValidation::make(dif::Program program, unsigned samples, const Execution& execution) {
  ProgramValidation made(samples);
  made.how_.sizes.expected = kExecnameBytes;
  made.how_.execution = execution;
  if (Status counted = caught([&] { count_ways(program, made.how_); }); !counted) return counted.error();
  made.program_ = std::move(program);
  return made;
}

Status ProgramValidation::sample(uint64_t firings) {
  return caught([&] {
    const RunSettings settings{.firings = firings, .engine = how_.execution->engine};
    samples_.add(time_program(program_, settings).probe);
    how_.event_bytes = event_bytes(settings);
  });
}

Validated ProgramValidation::finish(const vm::Profile& profile) const {
  const Prediction prediction = predict(program_, profile, how_);
  Validated result;
  const double ns = 1e9 / profile.clock_hz;
  for (const ProbePrediction& probe : prediction.probes) {
    result.predicted += probe.firing.expected.clocks * ns;
    result.predicted_spread += probe.firing.expected.spread * ns;
  }
  const noise::Middle all = samples_.middle();
  result.measured = all.median;
  result.measured_spread = all.deviation();
  result.is_quiet = samples_.is_quiet();
  result.missing = prediction.missing;
  return result;
}

}  // namespace dvm::lab
