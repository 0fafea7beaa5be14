#pragma once
// Whether the caller has its core for itself. A core runs two threads at a time, and on a rented machine the other one may be
// somebody else's, whom nothing here shows: no process, no load, no stolen time. What it takes away is room to do several steps
// at once: a chain of steps that wait for each other takes as long as ever, work that is wide up to twice as long. So both are
// timed, one after the other, and the speed of the core, which nobody knows, is the same for both:
//
//   chain   multiplications, each of the result of the one before            3 cycles a step
//   wide    four additions that wait for nothing but the four before them    1 cycle a step on a core of one's own, more
//   otherwise
//
// That holds for x86-64 processors with at least four units for additions, those of the last ten years; on others no core is ever
// quiet. On an AMD EPYC a quiet one read 1.06 to 1.11 cycles, and 95 of 100 samples of a switch in a loop lay within 1.5 %;
// others read from 1.12 to 2.8, and took up to 40 % longer. For C and C++.

#include <stdint.h>
#include <x86intrin.h>

static inline uint64_t dvm_time_chain(int turns) {
  uint64_t value = 3;
  const uint64_t begin = __rdtsc();
  for (int i = 0; i < turns; i++) __asm__ volatile(".rept 10\n imul %0, %0\n .endr" : "+r"(value));
  return __rdtsc() - begin;
}

static inline uint64_t dvm_time_wide(int turns) {
  uint64_t a = 1, b = 2, c = 3, d = 4;
  const uint64_t begin = __rdtsc(), added = 7;
  for (int i = 0; i < turns; i++)
    __asm__ volatile(".rept 20\n add %4, %0\n add %4, %1\n add %4, %2\n add %4, %3\n .endr"
                     : "+r"(a), "+r"(b), "+r"(c), "+r"(d)
                     : "r"(added));
  return __rdtsc() - begin;
}

// Cycles of a wide step now, in some three microseconds: of three readings the one in the middle, since an interrupt makes one of
// them anything.
static inline double dvm_wide_step(void) {
  enum { chain_turns = 50, wide_turns = 80 };
  const double chain_cycles = 3.0 * 10 * (int)chain_turns, wide_steps = 20.0 * (int)wide_turns;
  double of[3];
  for (int i = 0; i < 3; i++) {
    const double cycle = (double)dvm_time_chain(chain_turns) / chain_cycles;
    of[i] = (double)dvm_time_wide(wide_turns) / wide_steps / cycle;
  }
  const double low = of[0] < of[1] ? of[0] : of[1], high = of[0] < of[1] ? of[1] : of[0];
  return of[2] < low ? low : of[2] > high ? high : of[2];
}

// Where the chain was slowed down too, nothing can be told.
static inline int dvm_is_quiet_step(double cycles) { return cycles > 0.9 && cycles < 1.13; }

// Now.
static inline int dvm_core_is_quiet(void) { return dvm_is_quiet_step(dvm_wide_step()); }
