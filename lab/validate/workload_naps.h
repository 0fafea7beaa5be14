#pragma once
// Sleeps of the threads of the job "paced": after a number of calls, for a time within two limits.

#include <algorithm>

namespace dvm::lab {

// ns, for a few calls at so many a second.
inline double paced_mean_nap(double rate) {
  constexpr double kCalls = 25, kShortest = 20e3, kLongest = 200e3;
  return std::clamp(kCalls * 1e9 / rate, kShortest, kLongest);
}

}  // namespace dvm::lab
