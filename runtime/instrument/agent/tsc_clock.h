#pragma once
// Converts ticks of the TSC to times of CLOCK_MONOTONIC. Both clocks are read together at each poll. The rate is computed from
// the latest reading and one at least kBaseTicks earlier, because readings close together would give a large error.

#include <x86intrin.h>

#include <cstdint>
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

class TscClock {
 public:
  TscClock() : before_(read_both()), middle_(before_), now_(before_) {}

  // At each poll.
  void read() {
    const Reading next = read_both();
    if (next.ticks - now_.ticks < kLeastTicks) return;
    now_ = next;
    if (now_.ticks - middle_.ticks >= kBaseTicks) {
      before_ = middle_;
      middle_ = now_;
    }
    rate_ = static_cast<double>(now_.time - before_.time) / static_cast<double>(now_.ticks - before_.ticks);
  }
  uint64_t ticks_of_reading() const { return now_.ticks; }

  // The line from the last reading on. Takes readings until they are kLeastLine ticks apart.
  inside::ClockLine line() {
    while (now_.ticks - before_.ticks < kLeastLine) read();
    const auto rate = static_cast<uint64_t>(rate_ * static_cast<double>(uint64_t{1} << inside::kRateBits));
    if (std::exchange(line_at_, now_.ticks) != now_.ticks) line_ = line_after(line_, now_.ticks, now_.time, rate);
    return line_;
  }

  uint64_t time_of(uint64_t ticks) const {
    if (now_.ticks == before_.ticks) return now_.time;
    const auto since = static_cast<double>(static_cast<int64_t>(ticks - before_.ticks));
    return before_.time + static_cast<uint64_t>(static_cast<int64_t>(since * rate_));
  }

 private:
  static constexpr uint64_t kLeastTicks = 200'000, kBaseTicks = 300'000'000, kLeastLine = 5'000'000;
  static constexpr int kReadings = 5;
  struct Reading {
    uint64_t ticks = 0, time = 0;
  };

  // The reading of both clocks that took the least time.
  static Reading read_both() {
    Reading best;
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

  Reading before_, middle_, now_;
  double rate_ = 0;           // ns a tick, between `before_` and `now_`
  inside::ClockLine line_{};  // the last one
  uint64_t line_at_ = 0;      // ticks of its reading
};

}  // namespace dvm::runtime
