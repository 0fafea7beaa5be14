// Covered by tests/unit/runtime/calibrate_test.cpp.

#include "runtime/cost/calibrate/middle.h"

#include <algorithm>

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

vm::Profile middle_profile(const std::vector<vm::Profile>& passes) {
  vm::Profile result = passes.front();
  for (const auto& [row, price] : passes.front().prices()) {
    std::vector<double> fixed, by_byte, spreads;
    for (const vm::Profile& pass : passes)
      if (const vm::Price* found = pass.find(row))
        fixed.push_back(found->m), by_byte.push_back(found->n), spreads.push_back(found->spread);
    const auto [least, most] = std::minmax_element(fixed.begin(), fixed.end());
    const double apart = (*most - *least) / 2;
    result.set(row, {middle(fixed).median, middle(by_byte).median, std::max(middle(spreads).median, apart)});
  }
  return result;
}

}  // namespace dvm::runtime
