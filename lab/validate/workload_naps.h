#pragma once
// How the threads of the job "paced" sleep: after so many calls, but no less and no more than for so long.

#include <algorithm>

namespace dvm::lab {

// ns, for a few calls at so many a second.
inline double paced_mean_nap(double rate) {
  constexpr double kCalls = 25, kShortest = 20e3, kLongest = 200e3;
  return std::clamp(kCalls * 1e9 / rate, kShortest, kLongest);
}

}  // namespace dvm::lab
