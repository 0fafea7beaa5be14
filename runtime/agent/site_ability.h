#pragma once
// The clauses that the code of a site can run by itself.

#include <span>
#include <vector>

#include "runtime/agent/agent_site.h"

namespace dvm::runtime {

// A value or a key that cannot be had is left to agent_enter, so nothing may have happened before: not in another firer, nor for
// a tail.
bool can_run_all(std::span<const AgentFirer> firers);
// The predicates of all clauses, one of which must be true for anything to happen; none: something may happen anyway, or they
// read more than registers.
std::vector<const MachineCode*> gates_of(std::span<const AgentFirer> firers);
// All that its clauses do is to count, once and without keys, unless the value of a gate is 0.
bool only_counts(std::span<const AgentFirer> firers);
// The same, to assign to one thread-local variable, by a value that depends on none.
bool only_assigns(std::span<const AgentFirer> firers);

}  // namespace dvm::runtime
