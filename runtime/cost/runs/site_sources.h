#pragma once
// Finds the priced sources of probes in processes, by the instructions on which they are placed.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "dvm/runtime/handle.h"
#include "runtime/catalog/probe.h"
#include "runtime/cost/assumptions.h"

namespace dvm::runtime {

// Probes by the text of the description that matches them.
using MatchedProbes = std::map<std::string, std::vector<const Probe*>>;

// How often each probe fires, if known; otherwise all are equally likely.
using ProbeRates = std::map<const Probe*, double>;

// The sources of probes that are enabled together; probes on the same instruction share a trap. The sites of a probe are assumed
// to be equally frequent. Descriptions without a site are left out. with_stacks: also find out if code has frame pointers.
SourcesOfProbes sources_of(const MatchedProbes& matched, bool with_stacks, const ProbeRates& rates = {});

// True if a clause walks the stack.
bool take_stacks(std::span<const dif::Program* const> programs);

// The programs' probes in processes, as the handle has found them.
MatchedProbes matched_in_processes(Handle& handle, std::span<const dif::Program* const> programs);
// Sources of the programs' probes in processes, as the handle has found them.
SourcesOfProbes find_sources(Handle& handle, std::span<const dif::Program* const> programs, const ProbeRates& rates = {});

}  // namespace dvm::runtime
