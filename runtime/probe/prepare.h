#pragma once
// Prepares the code of a plan for an engine. Consumer context. It has no side effects, so any thread may prepare code.

#include <functional>

#include "runtime/probe/code.h"

namespace dvm::runtime {

// Looks up an aggregation of the plan by its id.
using FindLiveAggregation = std::function<const EnabledAggregation*(uint32_t id)>;

// If the engine cannot prepare all of the plan, the interpreter does.
EcbCode prepare_code(const EcbPlan& plan, const FindLiveAggregation& find, vm::CostPolicy policy,
                     const vm::Engine& engine = vm::kUsualEngine);

}  // namespace dvm::runtime
