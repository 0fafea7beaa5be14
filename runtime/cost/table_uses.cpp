// Covered by tests/unit/runtime/simulate_test.cpp and tests/unit/runtime/cost_model_test.cpp.

#include "runtime/cost/table_uses.h"

#include <algorithm>

#include "dvm/dif/action.h"
#include "runtime/cost/dynamic_uses.h"

namespace dvm::runtime {

double keyed_actions(const dif::EcbDesc& clause) {
  return static_cast<double>(std::count_if(clause.actions.begin(), clause.actions.end(), [](const dif::ActDesc& action) {
    return dif::find_aggregation(action.kind) != nullptr && action.key_count > 0;
  }));
}

namespace {

double found_keys(std::span<const dif::Program* const> programs, const PredictOptions& options) {
  double found = 0;
  for (const dif::Program* program : programs)
    for (const dif::EcbDesc& clause : program->clauses)
      found += rate_of(clause, options) * probability_of(clause, options) * keyed_actions(clause);
  return found;
}

// One that a firing looks up again is near by then.
double found_tuples(std::span<const dif::Program* const> programs, const PredictOptions& options) {
  double found = 0, firings = 0;
  for (const auto& [description, rate] : options.rates) firings += rate;
  for (const DynamicUse& use : dynamic_uses(programs, options))
    if (use.has_keys) found += std::min(use.stores, firings);
  return found;
}

TableUse use_of(Prices& prices, const TableRows& rows, double found) {
  if (found == 0) return {};
  return {table_times(prices, rows), found};
}

}  // namespace

TableTimes table_times(Prices& prices, const TableRows& rows) {
  const auto clocks = [&](Row row) { return prices.of(row).clocks; };
  return {rows.most, clocks(rows.few), clocks(rows.some), clocks(rows.many), clocks(rows.first), clocks(rows.far)};
}

TableUses table_uses(std::span<const dif::Program* const> programs, const PredictOptions& options, Prices& prices) {
  return {use_of(prices, kKeyRows, found_keys(programs, options)), use_of(prices, kTupleRows, found_tuples(programs, options))};
}

}  // namespace dvm::runtime
