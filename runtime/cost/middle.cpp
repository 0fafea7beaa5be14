// Covered by tests/unit/runtime/calibrate_test.cpp.

#include "runtime/cost/middle.h"

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

}  // namespace dvm::runtime
