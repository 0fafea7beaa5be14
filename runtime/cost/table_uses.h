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

// The rows of a kind of table, and how many keys it has at most.
struct TableRows {
  double most;
  Row few, some, many, first, far;
};
inline constexpr TableRows kKeyRows = {kMostKeys, "key/few"_row, "key/some"_row, "key/many"_row, "key/first"_row, "key/far"_row};
inline constexpr TableRows kTupleRows = {kMostTuples,      "tuple/few"_row,   "tuple/some"_row,
                                         "tuple/many"_row, "tuple/first"_row, "tuple/far"_row};

// The profile's times of such a table, in clocks.
TableTimes table_times(Prices& prices, const TableRows& rows);

// By as many firings as options.rates says; in clocks.
TableUses table_uses(std::span<const dif::Program* const> programs, const PredictOptions& options, Prices& prices);

}  // namespace dvm::runtime
