#pragma once
// The sources that firings of probes in processes come from, by the instructions that they are put on.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "dvm/runtime/handle.h"
#include "runtime/catalog/probe.h"
#include "runtime/cost/predict.h"

namespace dvm::runtime {

// What descriptions, as text, match.
using MatchedProbes = std::map<std::string, std::vector<const Probe*>>;

// How often each probe fires, where that is known: otherwise one is taken to be as likely as another.
using ProbeRates = std::map<const Probe*, double>;

// Of all that are enabled together: at the same instruction they share a trap. Each place of a probe is taken
// to be as likely as another. Descriptions whose probes can be put nowhere are left out.
// with_stacks: whether code has frame pointers is looked at, too.
SourcesOfProbes sources_of(const MatchedProbes& matched, bool with_stacks, const ProbeRates& rates = {});

// Whether a clause has need to walk the stack.
bool take_stacks(std::span<const dif::Program* const> programs);

// Of the programs' probes in processes, as the handle has found them.
SourcesOfProbes find_sources(Handle& handle, std::span<const dif::Program* const> programs, const ProbeRates& rates = {});

}  // namespace dvm::runtime
