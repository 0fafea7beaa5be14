#pragma once
// Measures what a prediction cannot derive from DIF: rates, from the names of timers or counted in the kernel; predicates and
// branches, from a counted run. Consumer context.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "dvm/runtime/handle.h"
#include "runtime/cost/assumptions.h"
#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

// How often each clause's predicate held and its branches were taken, over all of its probes. Clauses that never fired are left
// out.
MeasuredClauses measured_clauses(const Account& account);

// The same, from a run: the handle traces for `seconds` and is stopped. It must have a cost policy that counts, and no output.
Result<MeasuredClauses> sample_clauses(Handle& handle, double seconds);

// Sets the rates of timers that options.rates lacks, and adds their descriptions to options.named_rates: profile-997 fires 997
// times a second on each CPU, tick-100ms ten times.
void add_timer_rates(std::span<const dif::Program* const> programs, unsigned cpus, PredictOptions& options);

// Firings a second.
struct SampledRates {
  std::map<std::string, double> of_descriptions;
  std::map<const Probe*, double> of_probes;  // that were counted
};

// Counts the firings of the programs' probes, which the handle has enabled, except dvm's own probes. Adds probes that cannot be
// counted to `refused`.
Result<SampledRates> sample_rates(Handle& handle, std::span<const dif::Program* const> programs, double seconds,
                                  std::vector<Refused>& refused);

}  // namespace dvm::runtime
