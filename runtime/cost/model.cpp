// Equations (1) to (3) over the rows of a profile. Covered by tests/unit/runtime/cost_model_test.cpp.

#include "runtime/cost/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/cost/rows.h"

namespace dvm::runtime {
namespace {

double bytes_of(const dif::DataType& type, double string) { return type.kind == dif::TypeKind::string ? string : type.size; }

// What the row of an action is priced by: the bytes that it records, or those of the keys of an aggregation.
double priced_bytes(const dif::ActDesc& action, double string) {
  const size_t count = dif::find_aggregation(action.kind) ? action.key_count : action.args.size();
  double bytes = 0;
  for (size_t i = 0; i < std::min(count, action.args.size()); i++) bytes += bytes_of(action.args[i].difo.result, string);
  return bytes;
}

std::string row_of(const dif::ActDesc& action) {
  if (const dif::AggregationInfo* function = dif::find_aggregation(action.kind))
    return fmt::format("aggregation/{}", function->name);
  return fmt::format("action/{}", dif::find_action(action.kind)->name);
}

vm::CostRange action_cost(Prices& prices, const dif::ActDesc& action) {
  const std::string row = row_of(action);
  const auto priced = [&](double string) { return prices.of(row, priced_bytes(action, string)); };
  const vm::Sizes& sizes = prices.sizes();
  vm::CostRange sum{priced(sizes.least), priced(sizes.expected), priced(sizes.most)};
  for (const dif::RecDesc& value : action.args) {
    sum += prices.of(value.difo);
    if (value.made_by == dif::Action::expression || value.made_by == action.kind) continue;
    const vm::Cost made = prices.of(fmt::format("action/{}", dif::find_action(value.made_by)->name));  // a key
    sum += {made, made, made};
  }
  return sum;
}

}  // namespace

vm::Cost source_cost(Prices& prices, std::string_view source) {
  vm::Cost sum;
  bool known = false;
  for (const CostRow& stage : flow_stages()) {
    const std::string row = fmt::format("source/{}/{}", source, stage.name);
    known |= prices.profile().find(row) != nullptr;
    sum += prices.of_optional(row);
  }
  if (!known) prices.of(fmt::format("source/{}", source));
  return sum;
}

vm::CostRange predicate_cost(Prices& prices, const dif::EcbDesc& clause) {
  return clause.predicate ? prices.of(clause.predicate->difo) : vm::CostRange{};
}

vm::CostRange actions_cost(Prices& prices, const dif::EcbDesc& clause) {
  vm::CostRange sum;
  for (const dif::ActDesc& action : clause.actions) sum += action_cost(prices, action);
  return sum;
}

}  // namespace dvm::runtime
