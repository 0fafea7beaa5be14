#pragma once
// Detects a busy neighbour on the SMT sibling. On a rented machine nothing else shows it: no process, no load, no stolen time.
// While the neighbour is awake each thread has half of the core's look-ahead, and work takes up to twice as long. Two independent
// chains of multiplications are timed, too far apart for half a look-ahead to overlap them: 150 and 300 instructions. Processors
// look ahead over 224 to 512, so for each of them one of the two distances lies within that and beyond its half. The cycles with
// an idle sibling depend on the processor but are constant: a reading counts by its distance from the lowest one. x86-64.

#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace dvm::lab::noise {

// The cycle counter, read when all earlier instructions are done and no later one has begun.
inline uint64_t ordered_ticks() {
  _mm_lfence();
  const uint64_t ticks = __rdtsc();
  _mm_lfence();
  return ticks;
}

inline uint64_t time_chain(int turns) {
  uint64_t value = 3;
  const uint64_t begin = ordered_ticks();
  for (int i = 0; i < turns; i++) __asm__ volatile(".rept 10\n imul %0, %0\n .endr" : "+r"(value));
  return ordered_ticks() - begin;
}

// Times the two chains, so many instructions apart, there and back.
template <int kApart>
uint64_t time_apart(int turns) {
  uint64_t a = 3, b = 5;
  const uint64_t begin = ordered_ticks();
  for (int i = 0; i < turns; i++)
    __asm__ volatile(
        ".rept 30\n imul %0, %0\n .endr\n .rept %c2\n nop\n .endr\n"
        ".rept 30\n imul %1, %1\n .endr\n .rept %c2\n nop\n .endr"
        : "+r"(a), "+r"(b)
        : "i"(kApart));
  return ordered_ticks() - begin;
}

// Cycles of the two chains at both distances, and cycles of the core in a tick of the counter. Takes ten microseconds: on some
// processors the counter advances only every 10 ns, which must stay below a few percent of a chain. The chains are the middle
// ones of three, and the speed is the highest, because an interrupt may spoil one of them.
struct CoreReading {
  std::array<double, 2> cycles;
  double speed;
};

inline CoreReading read_core() {
  constexpr int kChainTurns = 150, kTurns = 16;
  constexpr double kChainCycles = 3.0 * 10 * kChainTurns;
  std::array<double, 3> near, far;
  double speed = 0;
  for (size_t i = 0; i < near.size(); i++) {
    const double now = kChainCycles / static_cast<double>(time_chain(kChainTurns));
    near[i] = static_cast<double>(time_apart<150>(kTurns)) / kTurns * now;
    far[i] = static_cast<double>(time_apart<300>(kTurns)) / kTurns * now;
    speed = std::max(speed, now);
  }
  const auto middle = [](const auto& of) { return std::clamp(of[2], std::min(of[0], of[1]), std::max(of[0], of[1])); };
  return {{middle(near), middle(far)}, speed};
}

// The lowest cycles that several readings in a row agreed on; a single one may be too low. Nothing is quiet until there are any.
struct LeastCycles {
  double least = 0;               // 0: not known
  double first = 0, highest = 0;  // of the readings in a row that agree
  int same = 0;                   // how many

  void keep(double cycles) {
    constexpr int kRow = 8;
    constexpr double kApart = 1.01;
    const bool is_same = cycles < kApart * first && cycles > first / kApart;
    highest = is_same ? std::max(highest, cycles) : cycles;
    same = is_same ? same + 1 : 1;
    if (!is_same) first = cycles;
    if (same >= kRow && (least == 0 || highest < least)) least = highest;
  }
  bool is_least(double cycles) {
    constexpr double kAbove = 1.05;
    keep(cycles);
    return cycles < kAbove * least && cycles > least / kAbove;
  }
};

struct CoreState {
  bool is_quiet = false;
  double speed = 0;  // as in a reading
};

// The cycles of readings with an idle sibling, as far as they are known.
struct CoreGauge {
  std::array<LeastCycles, 2> of;

  bool is_quiet(const CoreReading& reading) {
    const bool is_near = of[0].is_least(reading.cycles[0]), is_far = of[1].is_least(reading.cycles[1]);
    return is_near && is_far;
  }
  CoreState state() {
    const CoreReading reading = read_core();
    return {is_quiet(reading), reading.speed};
  }
};

}  // namespace dvm::lab::noise
