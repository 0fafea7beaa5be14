#pragma once
// Asks the backends for the backend and engine of each clause, for `-v`.

#include <vector>

#include "dvm/runtime/handle.h"
#include "runtime/backend/backend.h"
#include "runtime/enabling/enabling.h"

namespace dvm::runtime {

// The placement that a plan would have on a probe. Placement::engine is empty if the enabling's code runs it.
Placement placement_of(const EcbPlan& plan, const Probe& probe, const BackendList& backends);
Placement placement_of(const Ecb& ecb, const BackendList& backends);
// All clauses in order, each with one placement for all probes of the same answer.
std::vector<Placement> placements_of(const Enabling& enabling, const BackendList& backends);

}  // namespace dvm::runtime
