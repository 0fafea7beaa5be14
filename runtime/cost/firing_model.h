#pragma once
// What a simulation needs to know of a firing, from programs and prices.

#include <set>
#include <span>
#include <string>

#include "common/result.h"
#include "dvm/dif/option.h"
#include "runtime/cost/predict.h"
#include "runtime/cost/simulate.h"

namespace dvm::runtime {

// Of a firing as frequent as options.rates says, of all probes as frequent as each other where it says nothing of any. run: the
// options of the run. missing takes the rows without a price.
Result<FiringModel> model_firing(std::span<const dif::Program* const> programs, const vm::Profile& profile,
                                 PredictOptions options, const dif::Options& run, std::set<std::string>& missing);

// Of a run with these options.
SimulatedBuffers buffers_of(const dif::Options& options);

}  // namespace dvm::runtime
