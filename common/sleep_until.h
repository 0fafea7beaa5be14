#pragma once
// Sleeps until a time of CLOCK_MONOTONIC, in nanoseconds.

#include <cstdint>
#include <ctime>

namespace dvm {

inline void sleep_until(uint64_t ns) noexcept {
  const timespec time{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
}

}  // namespace dvm
