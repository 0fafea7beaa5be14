#pragma once
// The time of a firing in the traced thread: CLOCK_MONOTONIC by the TSC, on the line that dvm has published last.

#include "runtime/agent/inside/format.h"

namespace dvm::runtime::inside {

// The duration of some ticks, in ns.
constexpr uint64_t time_in(uint64_t rate, uint64_t ticks) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((static_cast<Wide>(ticks << kTickBits) * rate) >> 64);
}
inline uint64_t time_on(const ClockLine& line, uint64_t ticks) { return line.begin + time_in(line.rate, ticks); }

// The line through one reading of both clocks.
constexpr ClockLine line_through(uint64_t ticks, uint64_t time, uint64_t rate) { return {rate, time - time_in(rate, ticks)}; }
constexpr const ClockLine& line_of(const ClockLine (&lines)[2], uint64_t clock_number) {
  return lines[number_of_line(clock_number) % 2];
}

// dvm writes the two lines in turn, so the line in use does not change until the next but one is published. A line that has
// changed meanwhile is read again, but only a few times: dvm does not publish that often, and a program that writes here only
// harms itself.
inline ClockLine current_line(const DataHeader& header) {
  constexpr int kAttempts = 4;
  ClockLine line;
  for (int i = 0; i < kAttempts; i++) {
    const uint64_t number = __atomic_load_n(&header.clock_number, __ATOMIC_ACQUIRE);
    const auto* from = reinterpret_cast<const volatile ClockLine*>(&line_of(header.clock, number));
    line.rate = from->rate, line.begin = from->begin;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(&header.clock_number, __ATOMIC_RELAXED) == number) break;
  }
  return line;
}

}  // namespace dvm::runtime::inside
