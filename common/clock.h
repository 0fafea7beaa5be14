#pragma once
// A clock of the kernel in nanoseconds.

#include <cstdint>
#include <ctime>

namespace dvm {

inline uint64_t read_clock(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace dvm
