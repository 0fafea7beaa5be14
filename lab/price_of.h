#pragma once
// Prices made of measured times, in the unit of those times.

#include <algorithm>
#include <cmath>

#include "dvm/vm/profile.h"
#include "lab/noise/middle.h"

namespace dvm::runtime {

// The extra cost of `with` over `without`, in the unit of both. A negative difference is noise and counts as 0.
inline vm::Price difference(const noise::Middle& with, const noise::Middle& without) {
  return {std::max(with.median - without.median, 0.0), 0, std::hypot(with.deviation(), without.deviation())};
}

// m and n from the prices of a few things and of `more` further ones.
inline vm::Price by_size(const vm::Price& few, double things, const vm::Price& many, double more) {
  const double n = std::max((many.m - few.m) / more, 0.0);
  return {std::max(few.m - n * things, 0.0), n, std::max(few.spread, many.spread)};
}

inline vm::Price times(vm::Price price, double factor) { return {price.m * factor, price.n * factor, price.spread * factor}; }

}  // namespace dvm::runtime
