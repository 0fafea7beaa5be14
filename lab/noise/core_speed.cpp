// Covered by tests/unit/lab/noise_test.cpp.

#include "lab/noise/core_speed.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/clock.h"
#include "lab/noise/core_share.h"

namespace dvm::lab::noise {
namespace {

constexpr unsigned kTimes = 10;
constexpr int kTurns = 100;  // of ten steps
constexpr double kCyclesOfTurn =
    10 * 3;  // three of a multiplication, on every x86-64 of the last fifteen years; only ratios matter

std::atomic<double> speed_of_all_times = 0;

}  // namespace

void give_times_at(double core_speed) { speed_of_all_times = core_speed; }
double speed_of_times() { return speed_of_all_times; }

// Disturbances make a chain longer.
double core_speed() {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  for (unsigned i = 0; i < kTimes; i++) least = std::min(least, dvm_time_chain(kTurns));
  return kCyclesOfTurn * kTurns / static_cast<double>(std::max<uint64_t>(least, 1));
}

double core_speed_over(unsigned long ns) {
  std::vector<double> speeds;
  const uint64_t end = read_clock(CLOCK_MONOTONIC) + ns;
  do speeds.push_back(core_speed());
  while (read_clock(CLOCK_MONOTONIC) < end);
  std::nth_element(speeds.begin(), speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() / 2), speeds.end());
  return speeds[speeds.size() / 2];
}

}  // namespace dvm::lab::noise
