#pragma once
// Schedules periodic work.

#include <algorithm>
#include <cstdint>

#include "common/clock.h"

namespace dvm::runtime {

using MonotonicTime = uint64_t;  // ns of CLOCK_MONOTONIC
constexpr MonotonicTime kNever = UINT64_MAX;

// The time at which periodic work is due next.
class Rate {
 public:
  void start(MonotonicTime now, int64_t period) { next_ = now + at_least_one(period); }
  bool due(MonotonicTime now) const { return now >= next_; }
  // Call after the work. The period may differ from that of start().
  void done(MonotonicTime now, int64_t period) {
    next_ += (now - next_) / at_least_one(period) * at_least_one(period) + at_least_one(period);
  }
  MonotonicTime next() const { return next_; }

 private:
  static MonotonicTime at_least_one(int64_t period) { return static_cast<MonotonicTime>(std::max<int64_t>(period, 1)); }
  MonotonicTime next_ = kNever;
};

}  // namespace dvm::runtime
