// Covered by tests/unit/runtime/calibrate_test.cpp.

#include "runtime/cost/calibrate/middle.h"

#include <algorithm>

namespace dvm::runtime {

Middle middle(std::vector<double> values) {
  if (values.empty()) return {};
  const auto median = [](std::vector<double>& of) {
    const auto half = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
    std::nth_element(of.begin(), half, of.end());
    return *half;
  };
  const double centre = median(values);
  for (double& value : values) value = std::abs(value - centre);
  return {centre, median(values)};
}

}  // namespace dvm::runtime
