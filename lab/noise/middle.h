#pragma once
// Summarises samples by their median, and by their median distance from it. A disturbance makes a sample longer, never shorter,
// and may last for several samples; so the slower half of samples of time is left out.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace dvm::lab::noise {

struct Middle {
  double median = 0;
  double distance = 0;  // the median one

  // The standard deviation, were the samples normally distributed.
  double deviation() const { return 1.4826 * distance; }
};

// 0 without values.
inline Middle middle(std::vector<double> values) {
  if (values.empty()) return {};
  const auto median = [](std::vector<double>& of) {
    std::sort(of.begin(), of.end());
    return (of[(of.size() - 1) / 2] + of[of.size() / 2]) / 2;
  };
  const double centre = median(values);
  for (double& value : values) value = std::abs(value - centre);
  return {centre, median(values)};
}

// The same for the quicker half of the values.
inline Middle quiet_middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.resize((values.size() + 1) / 2);
  return middle(std::move(values));
}

// Position in a histogram below which so much of all lies, in steps. Nothing: it is empty.
template <class Counts>
std::optional<double> position_of(const Counts& counts, double share) {
  const double wanted = share * std::accumulate(counts.begin(), counts.end(), 0.0);
  double below = 0;
  for (size_t step = 0; step < counts.size(); below += static_cast<double>(counts[step++]))
    if (const auto count = static_cast<double>(counts[step]); count > 0 && below + count >= wanted)
      return static_cast<double>(step) + (wanted - below) / count;
  return std::nullopt;
}

inline Middle times(const Middle& of, double factor) { return {of.median * factor, of.distance * factor}; }

}  // namespace dvm::lab::noise
