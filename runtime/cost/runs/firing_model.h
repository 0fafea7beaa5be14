#pragma once
// Makes the model of a firing for a simulation, from programs and prices.

#include <set>
#include <span>
#include <string>

#include "dvm/common/result.h"
#include "dvm/dif/option.h"
#include "runtime/cost/predict.h"
#include "runtime/cost/simulate.h"

namespace dvm::runtime {

// Probes are weighted by options.rates or, without any rates, equally. run: the options of the run. missing: receives the rows
// without a price.
Result<FiringModel> model_firing(std::span<const dif::Program* const> programs, const vm::Profile& profile,
                                 PredictOptions options, const dif::Options& run, std::set<std::string>& missing);

// The buffers of a run with these options.
SimulatedBuffers buffers_of(const dif::Options& options);

}  // namespace dvm::runtime
