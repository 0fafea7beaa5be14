#pragma once
// Measures what a prediction cannot derive from DIF. Rates come from the names of timers, or are counted in the kernel,
// predicates and branches from a counted run, priced sources from the probed instructions of processes. Consumer context.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "dvm/runtime/handle.h"
#include "runtime/catalog/probe.h"
#include "runtime/cost/assumptions.h"
#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

// How often each clause's predicate held and its branches were taken, over all of its probes. Not of clauses that never fired.
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

// Counts the firings of the programs' enabled probes, except dvm's own. Adds probes that cannot be counted to `refused`.
Result<SampledRates> sample_rates(Handle& handle, std::span<const dif::Program* const> programs, double seconds,
                                  std::vector<Refused>& refused);

using MatchedProbes = std::map<std::string, std::vector<const Probe*>>;  // by the text of the description
using ProbeRates = std::map<const Probe*, double>;                       // if none is known, all are equally likely

// The sources of probes that are enabled together; probes on the same instruction share a trap. The sites of a probe are assumed
// to be equally frequent. Descriptions without a site are left out. with_stacks: also find out if code has frame pointers.
SourcesOfProbes sources_of(const MatchedProbes& matched, bool with_stacks, const ProbeRates& rates = {});

bool take_stacks(std::span<const dif::Program* const> programs);  // a clause walks the stack

// The programs' probes in processes, as the handle has found them, and the sources of these.
MatchedProbes matched_in_processes(Handle& handle, std::span<const dif::Program* const> programs);
SourcesOfProbes find_sources(Handle& handle, std::span<const dif::Program* const> programs, const ProbeRates& rates = {});

}  // namespace dvm::runtime
