#pragma once
// Finds out how an agent would run the clauses of programs: in the traced thread, or in dvm from a record. The decisions are
// those of the instrument (runtime/instrument/agent), but no probe is placed.

#include <cstddef>
#include <span>

#include "dvm/common/result.h"
#include "dvm/dif/option.h"
#include "runtime/cost/assumptions.h"
#include "runtime/cost/runs/sample.h"
#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

// For probes in processes. A description without a probe in `matched` is assumed to match one whose arguments are in registers.
// The sizes of strings and stacks, and the sources of probes, come from `how`. Fails if the programs cannot be enabled.
Result<AgentWays> find_agent_ways(std::span<const dif::Program* const> programs, const dif::Options& options,
                                  const MatchedProbes& matched, const PredictOptions& how);

// The number of return probes, left out without an agent, whose processes allow one and whose exits it knows. It may still
// refuse some of them. None if the options name a backend, or uretprobes.
size_t count_for_agents(std::span<const Refused> probes, const dif::Options& options);

// Adds the result for the probes that the handle has found to `how`.
Status add_agent_ways(Handle& handle, std::span<const dif::Program* const> programs, PredictOptions& how);

}  // namespace dvm::runtime
