#pragma once
// From a plan to its code on an engine. Consumer context; it changes nothing, so any thread may prepare code.

#include <functional>

#include "runtime/probe/code.h"

namespace dvm::runtime {

// The aggregation of an id that the plan has.
using FindLiveAggregation = std::function<const EnabledAggregation*(uint32_t id)>;

// On the interpreter if the engine cannot take it all.
EcbCode prepare_code(const EcbPlan& plan, const FindLiveAggregation& find, vm::CostPolicy policy,
                     const vm::Engine& engine = vm::kUsualEngine);

}  // namespace dvm::runtime
