#pragma once
// Where each clause runs: the answers of the backends, for `-v`.

#include <span>
#include <vector>

#include "dvm/runtime/handle.h"
#include "runtime/backend/backend.h"
#include "runtime/enabling/enabling.h"

namespace dvm::runtime {

// Where a plan would run on a probe.
Placement placement_of(const EcbPlan& plan, const Probe& probe, std::span<Backend* const> backends);
// All clauses in order, each with one placement for all probes of the same answer.
std::vector<Placement> placements_of(const Enabling& enabling, std::span<Backend* const> backends);

}  // namespace dvm::runtime
