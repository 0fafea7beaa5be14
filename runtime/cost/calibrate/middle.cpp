// Covered by tests/unit/runtime/calibrate_test.cpp.

#include "runtime/cost/calibrate/middle.h"

#include <algorithm>
#include <limits>
#include <string>

namespace dvm::runtime {

Middle middle(std::vector<double> values) {
  if (values.empty()) return {};
  const auto median = [](std::vector<double>& of) {
    std::sort(of.begin(), of.end());
    return (of[(of.size() - 1) / 2] + of[of.size() / 2]) / 2;
  };
  const double centre = median(values);
  for (double& value : values) value = std::abs(value - centre);
  return {centre, median(values)};
}

Middle quiet_middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.resize((values.size() + 1) / 2);
  return middle(std::move(values));
}

namespace {

constexpr double kSure = 0.02, kSureClocks = 0.5;  // spreads within that of a price, or of so many clocks, are alike
constexpr double kLessSure = 3;                    // times as much spread: it was disturbed

double doubt_of(const vm::Price& price) { return std::max({price.spread, kSure * price.m, kSureClocks}); }

// Clocks of a firing that counts, which nearly every script pays: who else was on the core makes it longer, and with it all that
// is measured beside it.
double firing_of(const vm::Profile& pass) {
  double clocks = 0;
  for (const char* row : {"source/replay/trigger", "source/replay/handler", "prepare/ecb", "aggregation/count"})
    if (const vm::Price* price = pass.find(row)) clocks += price->m;
  return clocks;
}

// The least disturbed first.
std::vector<const vm::Profile*> by_disturbance(const std::vector<vm::Profile>& passes) {
  std::vector<const vm::Profile*> ordered;
  for (const vm::Profile& pass : passes) ordered.push_back(&pass);
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto* a, const auto* b) { return firing_of(*a) < firing_of(*b); });
  return ordered;
}

// Of a row, the prices that are no less sure than others.
std::vector<vm::Price> sure_prices(const std::vector<vm::Profile>& passes, const std::string& row) {
  std::vector<vm::Price> prices;
  for (const vm::Profile& pass : passes)
    if (const vm::Price* found = pass.find(row)) prices.push_back(*found);
  double least = std::numeric_limits<double>::infinity();
  for (const vm::Price& price : prices) least = std::min(least, doubt_of(price));
  std::erase_if(prices, [&](const vm::Price& price) { return doubt_of(price) > kLessSure * least; });
  return prices;
}

// The first one, or where others are surer the one in the middle of these.
vm::Price price_of(const vm::Price& first, const std::vector<vm::Price>& sure) {
  vm::Price price = first;
  std::vector<double> fixed, by_byte, spreads;
  for (const vm::Price& one : sure) fixed.push_back(one.m), by_byte.push_back(one.n), spreads.push_back(one.spread);
  if (std::find(sure.begin(), sure.end(), first) == sure.end())
    price = {middle(fixed).median, middle(by_byte).median, middle(spreads).median};
  const auto [least, most] = std::minmax_element(fixed.begin(), fixed.end());
  price.spread = std::max(price.spread, (*most - *least) / 2);
  return price;
}

}  // namespace

vm::Profile least_disturbed_profile(const std::vector<vm::Profile>& passes) {
  const auto ordered = by_disturbance(passes);
  vm::Profile result = *ordered.front();
  for (const vm::Profile* pass : ordered)
    for (const auto& [row, price] : pass->prices())
      if (pass == ordered.front() || result.find(row) == nullptr) result.set(row, price_of(price, sure_prices(passes, row)));
  return result;
}

}  // namespace dvm::runtime
