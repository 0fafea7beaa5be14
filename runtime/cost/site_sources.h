#pragma once
// The sources that firings of probes in processes come from, by the instructions that they are put on.

#include <map>
#include <span>
#include <string>

#include "dvm/runtime/handle.h"
#include "runtime/catalog/probe.h"
#include "runtime/cost/predict.h"

namespace dvm::runtime {

// Each probe as likely as another, and so each of its places. Empty: none of them can be put anywhere.
SourceShares sources_of_probes(std::span<const Probe* const> probes);

// Of the programs' probes in processes, by their descriptions as text: what the handle has found for them. Those of which it has
// none are left out.
std::map<std::string, SourceShares> find_sources(Handle& handle, std::span<const dif::Program* const> programs);

}  // namespace dvm::runtime
