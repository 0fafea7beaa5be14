#pragma once
// From a plan to its code, on the interpreter. Consumer context.

#include <functional>

#include "runtime/probe/code.h"

namespace dvm::runtime {

// The aggregation of an id that the plan has.
using FindLiveAggregation = std::function<const Aggregation*(uint32_t id)>;

EcbCode prepare_code(const EcbPlan& plan, const FindLiveAggregation& find, vm::CostPolicy policy);

}  // namespace dvm::runtime
