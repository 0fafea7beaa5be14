#pragma once
// A prediction held against a measurement: a program on made-up firings, which all clauses of the probe replay:::firing see. How
// often its predicates hold and its branches are taken is from a counted run; nothing else of the run goes into the prediction.

#include <set>
#include <string>
#include <vector>

#include "lab/calibrate/script_meter.h"
#include "runtime/cost/predict.h"

namespace dvm::lab {

// Ns of a firing, on the probe side.
struct Validated {
  double predicted = 0, predicted_spread = 0;
  double measured = 0, measured_spread = 0;
  bool is_quiet = true;           // the core was, where it was measured
  std::set<std::string> missing;  // rows that the profile does not price

  // Of the prediction, in per cent of the measured cost.
  double error() const { return measured > 0 ? 100 * (predicted - measured) / measured : 0; }
};

// One program's validation. Of many, samples are taken in turn, so that what else happens on the machine meets one of each.
class ProgramValidation {
 public:
  // Counts how often its predicates hold and its branches are taken.
  static Result<ProgramValidation> make(dif::Program program, unsigned samples);
  // Until there are enough on a quiet core, or it has been tried for long.
  bool wants_more() const { return samples_.wants_more(); }
  Status sample(uint64_t firings);
  Validated finish(const vm::Profile& profile) const;

 private:
  static constexpr unsigned kTries = 10;  // of a sample of some milliseconds, in turn with those of other programs

  explicit ProgramValidation(unsigned samples) : samples_(samples, kTries) {}

  dif::Program program_;
  PredictOptions how_;
  noise::QuietSamples samples_;
};

}  // namespace dvm::lab
