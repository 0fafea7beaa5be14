#pragma once
// The clauses that the code of a site can run by itself.

#include <span>
#include <vector>

#include "runtime/agent/agent_site.h"

namespace dvm::runtime {

// If a value or a key cannot be computed, the firing is left to agent_enter. So nothing may have happened before: neither for
// another firer, nor for a tail call.
bool can_run_all(std::span<const AgentFirer> firers);
// The predicates of all clauses, if nothing happens unless one of them is true, and if they read registers only. Otherwise
// empty.
std::vector<const MachineCode*> gates_of(std::span<const AgentFirer> firers);
// The clauses only count, once and without keys, unless the value of a gate is 0.
bool only_counts(std::span<const AgentFirer> firers);
// The clauses only assign, to one thread-local variable, a value that depends on no such variable. The same with gates.
bool only_assigns(std::span<const AgentFirer> firers);

}  // namespace dvm::runtime
