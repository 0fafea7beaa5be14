#pragma once
// The clocks of a session, and what happens at a rate.

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace dvm::runtime {

using Clock = uint64_t;  // ns of CLOCK_MONOTONIC
constexpr Clock kNever = UINT64_MAX;

inline uint64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

// When something is due again at a rate.
class Rate {
 public:
  void start(Clock now, int64_t period) { next_ = now + at_least_one(period); }
  bool due(Clock now) const { return now >= next_; }
  // The period may have changed since.
  void done(Clock now, int64_t period) {
    next_ += (now - next_) / at_least_one(period) * at_least_one(period) + at_least_one(period);
  }
  Clock next() const { return next_; }

 private:
  static Clock at_least_one(int64_t period) { return static_cast<Clock>(std::max<int64_t>(period, 1)); }
  Clock next_ = kNever;
};

}  // namespace dvm::runtime
