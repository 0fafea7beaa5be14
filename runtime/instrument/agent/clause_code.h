#pragma once
// The steps of simple clauses, which the traced thread runs (runtime/agent/inside/aggregate.h). Their values are machine code.
// dvm runs all other clauses.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/agent/agent_process.h"
#include "runtime/instrument/agent/arena_reader.h"
#include "runtime/instrument/agent/value_code.h"
#include "runtime/instrument/in_dvm.h"
#include "runtime/instrument/site_clause.h"

namespace dvm::runtime {

// The steps of the clauses of a probe.
struct ClauseSteps {
  std::vector<AgentStep> steps{};  // none: dvm runs them at each firing
  bool runs_all = true;            // else the steps only ask for a record if a predicate is true
  uint16_t locals = 0;             // clause-local variables that they use: the first ones
  InDvm in_dvm = InDvm::nothing;   // why they do not all run in the thread

  bool are_in_thread() const { return runs_all && !steps.empty(); }
};

// number_of: by which dvm knows an aggregation. A key that may not be readable is at the first step that has an effect, so that
// dvm can run the clauses instead.
using NumberOf = std::function<uint32_t(KnownClause clause)>;
ClauseSteps make_steps(std::span<const SiteClause> clauses, const ClausePlace& place, const NumberOf& number_of);

}  // namespace dvm::runtime
