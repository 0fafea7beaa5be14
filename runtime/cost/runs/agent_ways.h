#pragma once
// How the clauses of programs run by an agent: in the traced thread, or in dvm from a record, as the instrument would decide it
// (runtime/instrument/agent). Nothing is placed.

#include <span>

#include "dvm/common/result.h"
#include "dvm/dif/option.h"
#include "runtime/cost/assumptions.h"
#include "runtime/cost/runs/site_sources.h"

namespace dvm::runtime {

// Finds how an agent would run the clauses of probes in processes. A description without a probe in `matched` is assumed to have
// one whose arguments lie in registers. The sizes of strings and stacks, and the sources of probes, are those of `how`. Fails if
// the programs cannot be enabled.
Result<AgentWays> find_agent_ways(std::span<const dif::Program* const> programs, const dif::Options& options,
                                  const MatchedProbes& matched, const PredictOptions& how);

// Adds them to `how`, for the probes that the handle has found.
Status add_agent_ways(Handle& handle, std::span<const dif::Program* const> programs, PredictOptions& how);

}  // namespace dvm::runtime
