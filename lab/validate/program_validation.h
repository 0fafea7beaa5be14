#pragma once
// Compares the prediction for a program with its measurement on synthetic firings of replay:::firing. A counted run says how
// often predicates hold and branches are taken; nothing else of the run goes into the prediction.

#include <set>
#include <string>

#include "lab/calibrate/made_up_run.h"
#include "runtime/cost/predict.h"

namespace dvm::lab {

// Ns of a firing, on the probe side.
struct Validated {
  double predicted = 0, predicted_spread = 0;
  double measured = 0, measured_spread = 0;
  bool is_quiet = true;           // the core was, where it was measured
  std::set<std::string> missing;  // rows that the profile does not price

  double error() const { return measured > 0 ? 100 * (predicted - measured) / measured : 0; }  // %, of the measured cost
};

// One program's validation. Samples of several programs are taken in turn, so that a disturbance meets all of them.
class ProgramValidation {
 public:
  static Result<ProgramValidation> make(dif::Program program, unsigned samples, const runtime::Execution& execution = {});
  // Until there are enough on a quiet core, or it has been tried for long.
  bool wants_more() const { return samples_.wants_more(); }
  Status sample(uint64_t firings);
  Validated finish(const vm::Profile& profile) const;

 private:
  static constexpr unsigned kTries = 10;  // of a sample of some milliseconds

  explicit ProgramValidation(unsigned samples) : samples_(samples, kTries) {}

  dif::Program program_;
  runtime::PredictOptions how_;
  noise::QuietSamples samples_;
};

}  // namespace dvm::lab
