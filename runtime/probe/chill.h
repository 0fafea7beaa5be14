#pragma once
// chill(): busy-waits, at most half a second in each second, the limit of DTrace.

#include <cstdint>

#include "common/clock.h"

namespace dvm::runtime {

class Chill {
 public:
  // False: the limit would be exceeded; it does not wait.
  bool spin(uint64_t ns) noexcept {
    const uint64_t begin = read_clock(CLOCK_MONOTONIC);
    if (begin - since_ > kInterval) since_ = begin, spent_ = 0;
    if (ns > kMost - spent_) return false;
    spent_ += ns;
    while (read_clock(CLOCK_MONOTONIC) - begin < ns) continue;
    return true;
  }

 private:
  static constexpr uint64_t kMost = 500'000'000;
  static constexpr uint64_t kInterval = 1'000'000'000;

  uint64_t since_ = 0;  // ns, CLOCK_MONOTONIC: begin of the interval
  uint64_t spent_ = 0;  // at most kMost
};

}  // namespace dvm::runtime
