#pragma once
// The time of a firing in the traced thread: CLOCK_MONOTONIC by the TSC, on the line that dvm has published last.

#include "runtime/agent/inside/format.h"

namespace dvm::runtime::inside {

// Moves on by the ticks since the line began, which may be few and negative: another line has begun meanwhile.
inline uint64_t time_on(const ClockLine& line, uint64_t ticks) {
  __extension__ using Wide = __int128;
  const auto since = static_cast<int64_t>(ticks - line.ticks);
  return line.time + static_cast<uint64_t>(static_cast<int64_t>((static_cast<Wide>(since) * line.rate) >> kRateBits));
}

// The two lines take turns, so that the one in use does not change until the next but one is written. One that has changed
// meanwhile is read again, but not for ever: dvm is not that fast, and what else writes there only harms itself.
inline ClockLine current_line(const DataHeader& header) {
  constexpr int kAttempts = 4;
  ClockLine line;
  for (int i = 0; i < kAttempts; i++) {
    const uint64_t number = __atomic_load_n(&header.clock_number, __ATOMIC_ACQUIRE);
    const auto* from = reinterpret_cast<const volatile ClockLine*>(&header.clock[number & 1]);
    line.ticks = from->ticks, line.time = from->time, line.rate = from->rate;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(&header.clock_number, __ATOMIC_RELAXED) == number) break;
  }
  return line;
}

}  // namespace dvm::runtime::inside
