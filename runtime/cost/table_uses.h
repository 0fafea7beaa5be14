#pragma once
// The tables with keys that a script looks something up in (tables.h), and how often.

#include <span>
#include <string>

#include "runtime/cost/predict.h"
#include "runtime/cost/prices.h"
#include "runtime/cost/tables.h"

namespace dvm::runtime {

// Aggregating actions of the clause that find their place by keys.
double keyed_actions(const dif::EcbDesc& clause);

// What the profile says of a kind, key or tuple; in clocks.
TableTimes table_times(Prices& prices, const std::string& kind, double most);

// By as many firings as options.rates says; in clocks.
TableUses table_uses(std::span<const dif::Program* const> programs, const PredictOptions& options, Prices& prices);

}  // namespace dvm::runtime
