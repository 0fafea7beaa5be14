#pragma once
// Finds out what DIF does not tell a prediction: rates, from the names of timers or counted in the kernel; predicates and
// branches, from a counted run. Consumer context.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "dvm/runtime/handle.h"
#include "runtime/cost/assumptions.h"
#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

// How often each clause's predicate held and its branches were taken, over all of its probes. Without clauses that never fired.
MeasuredClauses measured_clauses(const Account& account);

// The same, from a run: the handle traces for so long and is stopped. It must count (a cost policy) and print nowhere.
Result<MeasuredClauses> sample_clauses(Handle& handle, double seconds);

// Sets the rates of timers that options.rates lacks, and adds their descriptions to options.named_rates: profile-997 fires 997
// times a second on each CPU, tick-100ms ten times.
void add_timer_rates(std::span<const dif::Program* const> programs, unsigned cpus, PredictOptions& options);

// Firings a second.
struct SampledRates {
  std::map<std::string, double> of_descriptions;
  std::map<const Probe*, double> of_probes;  // that were counted
};

// Of the programs' descriptions, whose probes the handle has enabled, but for dvm's own. Adds probes that could not be counted to
// `refused`.
Result<SampledRates> sample_rates(Handle& handle, std::span<const dif::Program* const> programs, double seconds,
                                  std::vector<Refused>& refused);

}  // namespace dvm::runtime
