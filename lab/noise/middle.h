#pragma once
// Samples as one figure: their median, and their median distance from it. A disturbance makes a sample longer, never shorter, and
// may last for several samples; so the slower half of samples of time is left out.

#include <vector>

namespace dvm::lab::noise {

struct Middle {
  double median = 0;
  double distance = 0;  // the median one

  // The standard deviation, were the samples normally distributed.
  double deviation() const { return 1.4826 * distance; }
};

// 0 without values.
Middle middle(std::vector<double> values);
// The same for the quicker half of the values.
Middle quiet_middle(std::vector<double> values);

inline Middle times(const Middle& of, double factor) { return {of.median * factor, of.distance * factor}; }

}  // namespace dvm::lab::noise
