#pragma once
// Measures how long an interrupt keeps a thread from running. The CPU time of the thread does not show that.
//
// The thread reads the cycle counter continuously. An interrupt makes a long gap between two readings, another thread a longer
// one. The usual gap is the one below which half of all time in gaps lies. Nearly all of that time are interrupts of a fast
// timer, so rare ones (the kernel's tick, the host) hardly change it. x86-64.

#include <array>
#include <vector>

#include "common/clock.h"
#include "lab/noise/quiet_time.h"

namespace dvm::lab::noise {

// Ticks in gaps between two readings, by the length of the gap.
class Gaps {
 public:
  static constexpr uint64_t kShortest = 500, kLongest = 200'000;

  void add(double ticks) { of_[std::min(static_cast<size_t>(ticks) / kStep, of_.size() - 1)] += ticks; }
  double usual() const { return position_of(of_, 0.5).value_or(0) * kStep; }

 private:
  static constexpr size_t kStep = 50;
  std::array<double, kLongest / kStep> of_{};
};

// Watches for so many ns. Adds the gaps found, as far as there is room.
inline void watch(uint64_t ns, std::vector<uint64_t>& gaps) {
  constexpr int kTurns = 256;
  const uint64_t end = read_clock(CLOCK_MONOTONIC) + ns;
  uint64_t last = __rdtsc();
  do {
    for (int turn = 0; turn < kTurns; turn++) {
      const uint64_t now = __rdtsc(), gap = now - last;
      if (gap > Gaps::kShortest && gap < Gaps::kLongest && gaps.size() < gaps.capacity()) gaps.push_back(gap);
      last = now;
    }
  } while (read_clock(CLOCK_MONOTONIC) < end);
}

// The usual time of an interrupt, of those in at least so many ns; 0: there was none.
struct InterruptTime {
  double ns = 0, quiet_share = 0;  // the share of the time with an idle SMT sibling. If it is too small, all interrupts count.
};
inline InterruptTime interrupt_time(uint64_t wanted) {
  constexpr double kEnough = 0.02;
  const uint64_t slice = std::min<uint64_t>(wanted, 400'000);
  Gaps quiet, all;
  std::vector<uint64_t> gaps;
  gaps.reserve(512);
  double slices = 0, quiet_slices = 0;
  QuietPiece piece;
  const uint64_t begin = read_clock(CLOCK_MONOTONIC), ticks = __rdtsc();
  for (; read_clock(CLOCK_MONOTONIC) - begin < wanted || slices == 0; slices++, gaps.clear()) {
    watch(slice, gaps);
    const QuietSample scale = piece.end(1);
    for (const uint64_t gap : gaps) {
      all.add(static_cast<double>(gap) * scale.value);
      if (scale.is_quiet) quiet.add(static_cast<double>(gap) * scale.value);
    }
    quiet_slices += scale.is_quiet;
  }
  const double ns_of_tick = static_cast<double>(read_clock(CLOCK_MONOTONIC) - begin) / static_cast<double>(__rdtsc() - ticks);
  const double share = quiet_slices / slices;
  return {(share >= kEnough ? quiet : all).usual() * ns_of_tick, share};
}

}  // namespace dvm::lab::noise
