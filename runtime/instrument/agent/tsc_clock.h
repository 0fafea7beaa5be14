#pragma once
// Converts ticks of the TSC to times of CLOCK_MONOTONIC. Both clocks are read together at each poll. The rate is computed from
// the latest reading and an earlier one, because readings close together would give a large error. As long as the rate does not
// change, they are ever further apart, up to some 20 s, so that traced threads have the time even if dvm does not run for
// minutes.

#include <x86intrin.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "common/clock.h"
#include "runtime/agent/inside/time.h"

namespace dvm::runtime {

// A line through a reading, but not below the line of before: one thread may compare its time with that of another thread. The
// new line is slower then, so that it meets the clock within kCatchUp.
inline inside::ClockLine line_after(const inside::ClockLine& before, uint64_t ticks, uint64_t time, uint64_t rate) {
  constexpr uint64_t kCatchUp = 100'000'000, kRounding = 1, kMost = 1'000'000;  // ns. More: the system has slept
  const uint64_t least = inside::time_on(before, ticks) + kRounding;
  if (least <= time || least - time > kMost) return inside::line_through(ticks, time, rate);
  return inside::line_through(ticks, least, rate - rate / kCatchUp * (least - time));
}

// Both clocks at one time.
struct ClockReading {
  uint64_t ticks = 0, time = 0;
};

class TscClock {
 public:
  explicit TscClock(const ClockReading& first = read_both()) : before_(first), middle_(first), now_(first) {}

  // At each poll.
  void read() { take(read_both()); }
  void take(const ClockReading& next) {
    if (next.ticks - now_.ticks < kLeastTicks) return;
    if (is_off(next) && now_.ticks - before_.ticks >= kLeastLine) start_again(next);
    now_ = next;
    if (now_.ticks - middle_.ticks >= base_) roll(now_), base_ = std::min(2 * base_, kLongestBase);
    if (now_.ticks - before_.ticks < kLeastLine && has_rate()) return;
    rate_ = static_cast<double>(now_.time - before_.time) / static_cast<double>(now_.ticks - before_.ticks);
    ticks_of_rate_ = now_.ticks - before_.ticks;
  }
  uint64_t ticks_of_reading() const { return now_.ticks; }

  // The line from the last reading on. Takes readings until there is a rate.
  inside::ClockLine line() {
    while (!has_rate()) read();
    const auto rate = static_cast<uint64_t>(rate_ * static_cast<double>(uint64_t{1} << inside::kRateBits));
    if (std::exchange(line_at_, now_.ticks) != now_.ticks) line_ = line_after(line_, now_.ticks, now_.time, rate);
    return line_;
  }

  uint64_t time_of(uint64_t ticks) const {
    const auto since = static_cast<double>(static_cast<int64_t>(ticks - now_.ticks));
    return now_.time + static_cast<uint64_t>(static_cast<int64_t>(since * rate_));
  }

 private:
  static constexpr uint64_t kLeastTicks = 200'000, kBaseTicks = 300'000'000, kLongestBase = 25'000'000'000,
                            kLeastLine = 5'000'000;
  static constexpr int64_t kOff = 300;      // ns: more than the error of two readings
  static constexpr int64_t kJump = 50'000;  // ns: more than a change of the rate makes of the time between two polls
  static constexpr int kReadings = 5;

  // The reading of both clocks that took the least time.
  static ClockReading read_both() {
    ClockReading best;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < kReadings; i++) {
      const uint64_t begin = __rdtsc();
      const uint64_t time = read_clock(CLOCK_MONOTONIC);
      const uint64_t end = __rdtsc();
      if (end - begin >= least) continue;
      least = end - begin;
      best = {begin + least / 2, time};
    }
    return best;
  }
  bool has_rate() const { return ticks_of_rate_ >= kLeastLine; }
  // The clock has changed its rate, or dvm has been stopped for long.
  bool is_off(const ClockReading& next) const { return has_rate() && distance(next) > kOff; }
  int64_t distance(const ClockReading& next) const { return std::abs(static_cast<int64_t>(time_of(next.ticks) - next.time)); }
  // After a jump of a clock its rate is as before, and no line may lead from one side of the jump to the other.
  void start_again(const ClockReading& next) {
    base_ = kBaseTicks;
    if (distance(next) > kJump)
      before_ = middle_ = next;
    else
      roll(now_);
  }
  void roll(const ClockReading& middle) { before_ = std::exchange(middle_, middle); }

  ClockReading before_, middle_, now_;
  uint64_t base_ = kBaseTicks;  // ticks from one reading for the rate to the next
  double rate_ = 0;             // ns a tick, between `before_` and `now_`
  uint64_t ticks_of_rate_ = 0;  // between those
  inside::ClockLine line_{};    // the last one
  uint64_t line_at_ = 0;        // ticks of its reading
};

}  // namespace dvm::runtime
