#pragma once
// Tells when something that happens at a rate is due.

#include <algorithm>
#include <cstdint>

#include "common/clock.h"

namespace dvm::runtime {

using MonotonicTime = uint64_t;  // ns of CLOCK_MONOTONIC
constexpr MonotonicTime kNever = UINT64_MAX;

// When something is due again at a rate.
class Rate {
 public:
  void start(MonotonicTime now, int64_t period) { next_ = now + at_least_one(period); }
  bool due(MonotonicTime now) const { return now >= next_; }
  // The period may have changed since.
  void done(MonotonicTime now, int64_t period) {
    next_ += (now - next_) / at_least_one(period) * at_least_one(period) + at_least_one(period);
  }
  MonotonicTime next() const { return next_; }

 private:
  static MonotonicTime at_least_one(int64_t period) { return static_cast<MonotonicTime>(std::max<int64_t>(period, 1)); }
  MonotonicTime next_ = kNever;
};

}  // namespace dvm::runtime
