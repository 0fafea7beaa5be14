#pragma once
// Samples as one figure: a median, and how far from it the samples lie. What disturbs a sample of time makes it longer, never
// shorter, and on a machine that is shared it may last for several of them: the slower half of such samples is left out.

#include <algorithm>
#include <cmath>
#include <vector>

#include "dvm/vm/profile.h"

namespace dvm::runtime {

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

// What one thing takes more than another, in the unit of both. Less than nothing is nothing, lost in the spread.
inline vm::Price difference(const Middle& with, const Middle& without) {
  return {std::max(with.median - without.median, 0.0), 0, std::hypot(with.deviation(), without.deviation())};
}

// m and n, of what takes so much with a few things and so much with some more.
inline vm::Price by_size(const vm::Price& few, double things, const vm::Price& many, double more) {
  const double n = std::max((many.m - few.m) / more, 0.0);
  return {std::max(few.m - n * things, 0.0), n, std::max(few.spread, many.spread)};
}

inline Middle times(const Middle& of, double factor) { return {of.median * factor, of.distance * factor}; }
inline vm::Price times(vm::Price price, double factor) { return {price.m * factor, price.n * factor, price.spread * factor}; }

}  // namespace dvm::runtime
