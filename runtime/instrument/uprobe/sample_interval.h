#pragma once
// The time between two samples of profile-N.
//
// The scheduler's tick and most timers of programs have even rates, such as 100, 250 or 1000 Hz. A sample in step with one of
// them finds the thread at the same place each time, or never. DTrace therefore predefines odd rates, such as 997. If a script
// asks for an even one, its samples are a thousandth further apart: they drift through the whole period of such a timer in 1000
// samples.

#include <cstdint>

namespace dvm::runtime {

inline uint64_t sample_interval(uint64_t period_ns) {
  constexpr uint64_t kSecond = 1'000'000'000, kEvenPeriod = 50'000, kEvenRate = 10;
  const uint64_t rate = (kSecond + period_ns / 2) / period_ns;
  const bool is_even = period_ns % kEvenPeriod == 0 || rate % kEvenRate == 0;
  return period_ns < kSecond && is_even ? period_ns + period_ns / 1000 : period_ns;
}

}  // namespace dvm::runtime
