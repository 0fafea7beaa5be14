#pragma once
// Times programs on made-up firings, through all of the runtime: from the instrument to the buffers, and from there to the text.

#include <functional>

#include "common/result.h"
#include "dvm/dif/program.h"
#include "dvm/vm/profile.h"
#include "runtime/cost/calibrate/dif_meter.h"
#include "runtime/cost/calibrate/script_cases.h"

namespace dvm::runtime {

// The probe that firings are of.
inline constexpr const char* kCalibratedProbe = "replay:::firing";

struct ScriptMeterOptions {
  unsigned samples = 7;        // of each of the two scripts
  uint64_t firings = 100'000;  // a sample
};

// Nanoseconds a firing of the probe side and of the consumer. Of CPU time: a sample is long enough for other threads to get in.
struct ScriptSample {
  double probe = 0, consumer = 0;
};
Result<ScriptSample> time_program(const dif::Program& program, uint64_t firings);

using CompileScript = std::function<Result<dif::Program>(const std::string& text)>;

// Adds the price of the case's row to the profile, which has those of the rows that it needs.
Status measure_script(const ScriptCase& one, const CompileScript& compile, const ScriptMeterOptions& options,
                      vm::Profile& profile);

// What is left of a firing that counts: the source replay.
Status measure_replay(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile);

}  // namespace dvm::runtime
