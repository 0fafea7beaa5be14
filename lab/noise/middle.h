#pragma once
// Samples as one figure: a median, and the median distance of the samples from it. A disturbance makes a sample longer, never
// shorter, and on a shared machine may last for several samples. So the slower half of such samples is left out.

#include <vector>

namespace dvm::lab::noise {

struct Middle {
  double median = 0;
  double distance = 0;  // the median one

  // The standard deviation, were the samples normally distributed.
  double deviation() const { return 1.4826 * distance; }
};

// Of none: 0.
Middle middle(std::vector<double> values);
// Of samples of time: of the quicker half.
Middle quiet_middle(std::vector<double> values);

inline Middle times(const Middle& of, double factor) { return {of.median * factor, of.distance * factor}; }

}  // namespace dvm::lab::noise
