// Covered by tests/unit/runtime/cost_model_test.cpp.

#include "runtime/cost/timer_rates.h"

#include "runtime/provider/providers.h"

namespace dvm::runtime {

void add_timer_rates(std::span<const dif::Program* const> programs, unsigned cpus, PredictOptions& options) {
  for (const dif::Program* program : programs)
    for (const dif::EcbDesc& clause : program->clauses)
      for (const dif::ProbeDesc& description : clause.probes) {
        const std::optional<TimerSite> timer = timer_of(description);
        if (!timer) continue;
        const double rate = 1e9 / static_cast<double>(timer->period_ns) * (timer->every_cpu ? cpus : 1);
        if (options.rates.emplace(text_of(description), rate).second) options.named_rates.insert(text_of(description));
      }
}

}  // namespace dvm::runtime
