#pragma once
// The cost of interpreted clauses, for option engine=auto: all firings are counted, and every 61st of a context is timed.

#include <algorithm>
#include <cstdint>

namespace dvm::runtime {

inline constexpr uint32_t kTimedEvery = 61;  // a prime, so that clauses that take turns are timed in turn

struct EcbRuns {
  static constexpr uint64_t kMostTimesLeast = 16;  // a firing that takes longer than this multiple of the least was interrupted

  uint64_t firings = 0;
  uint64_t timed = 0;
  uint64_t ticks = 0;  // of those that were timed
  uint64_t least = UINT64_MAX;

  void add(uint64_t ticks_of_firing) noexcept {
    least = std::min(least, ticks_of_firing);
    ticks += std::min(ticks_of_firing, least * kMostTimesLeast);
    timed++;
  }
  EcbRuns& operator+=(const EcbRuns& more) noexcept {
    firings += more.firings, timed += more.timed, ticks += more.ticks, least = std::min(least, more.least);
    return *this;
  }
  // Estimated ticks of all firings. clock: ticks of reading the clock.
  double cost(double clock) const noexcept {
    if (timed == 0) return 0;
    return std::max(static_cast<double>(ticks) / static_cast<double>(timed) - clock, 0.0) * static_cast<double>(firings);
  }
};

}  // namespace dvm::runtime
