// Covered by tests/unit/lab/noise_test.cpp.

#include "lab/noise/middle.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dvm::lab::noise {

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

}  // namespace dvm::lab::noise
