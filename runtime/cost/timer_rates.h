#pragma once
// What a prediction need not be told nor count: how often the probes of timers fire. profile-997 does 997 times a second on each
// CPU, tick-100ms ten times a second, once for all of them.

#include <span>

#include "runtime/cost/predict.h"

namespace dvm::runtime {

// For the timers of which options.rates says nothing; options.named_rates takes their descriptions.
void add_timer_rates(std::span<const dif::Program* const> programs, unsigned cpus, PredictOptions& options);

}  // namespace dvm::runtime
