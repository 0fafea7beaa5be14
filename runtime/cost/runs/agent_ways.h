#pragma once
// How the clauses of programs run by an agent: in the traced thread, or in dvm from a record, as the instrument would decide it
// (runtime/instrument/agent). Nothing is placed.

#include <span>

#include "dvm/common/result.h"
#include "dvm/dif/option.h"
#include "runtime/cost/assumptions.h"
#include "runtime/cost/runs/site_sources.h"

namespace dvm::runtime {

// Of the descriptions of probes in processes. matched: the probes that are known; a description without any is taken to match one
// whose arguments lie in registers. how: the sizes of strings and stacks, and the sources of probes. An error: the programs
// cannot be enabled.
Result<AgentWays> find_agent_ways(std::span<const dif::Program* const> programs, const dif::Options& options,
                                  const MatchedProbes& matched, const PredictOptions& how);

// Of the probes as the handle has found them.
Status add_agent_ways(Handle& handle, std::span<const dif::Program* const> programs, PredictOptions& how);

}  // namespace dvm::runtime
