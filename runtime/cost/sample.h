#pragma once
// What a prediction cannot know by itself, found out on live processes: how often probes fire, by counters in the kernel, and how
// often predicates hold and branches are taken, by a run whose output nobody sees. Consumer context.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "dvm/runtime/handle.h"
#include "runtime/cost/predict.h"

namespace dvm::runtime {

struct SampledRates {
  std::map<std::string, double> of_descriptions;
  std::map<const Probe*, double> of_probes;  // that were counted
};

// Firings a second of each description of the programs, whose probes the handle has enabled; those of tick-N follow from
// their names, and dvm's own are left out. `refused` takes the probes that could not be counted.
Result<SampledRates> sample_rates(Handle& handle, std::span<const dif::Program* const> programs, double seconds,
                                  std::vector<Refused>& refused);

// Predicates and branches. The handle traces for so long and is stopped: it must count (a cost policy) and print nowhere.
Result<MeasuredClauses> sample_clauses(Handle& handle, double seconds);

}  // namespace dvm::runtime
