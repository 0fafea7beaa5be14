#pragma once
// Whether the caller has its core for itself. A core runs two threads at a time, and on a rented machine the other one may be
// somebody else's, whom nothing here shows: no process, no load, no stolen time. What it takes away is room to do several steps
// at once: a chain of steps that wait for each other takes as long as ever, work that is wide up to twice as long. So the two are
// timed one after the other, and their ratio tells: it is least when nobody else is there, whatever the speed of the core.
// For C and C++, x86-64.

#include <stdint.h>
#include <x86intrin.h>

enum { dvm_gauge_steps = 500, dvm_gauge_turns = 3, dvm_gauge_group = 32 };

static inline uint64_t dvm_time_chain(void) {
  uint64_t value = 3;
  const uint64_t begin = __rdtsc();
  for (int i = 0; i < dvm_gauge_steps; i++) {
    value *= value;
    __asm__ volatile("" : "+r"(value));
  }
  return __rdtsc() - begin;
}

static inline uint64_t dvm_time_wide(void) {
  uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
  const uint64_t begin = __rdtsc();
  for (int i = 0; i < dvm_gauge_steps; i++)
    __asm__ volatile(
        "add $1, %0; add $3, %1; xor $7, %2; sub $5, %3; add $9, %4; xor $2, %5; lea 3(%0), %1; lea 5(%2), %3; lea 1(%4), %5"
        : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
  return __rdtsc() - begin;
}

// The ratio now, in a few microseconds: of three, the one in the middle, since an interrupt makes one of them anything.
static inline double dvm_core_ratio(void) {
  double of[dvm_gauge_turns];
  for (int i = 0; i < dvm_gauge_turns; i++) {
    const double chain = (double)dvm_time_chain();
    of[i] = (double)dvm_time_wide() / chain;
  }
  const double low = of[0] < of[1] ? of[0] : of[1], high = of[0] < of[1] ? of[1] : of[0];
  return of[2] < low ? low : of[2] > high ? high : of[2];
}

// What a process has learnt of its core; zeros at first. least: of groups of readings, the least of their third lowest ones,
// since now and then a reading is no ratio of anything.
struct dvm_core_gauge {
  double least, low[3];
  int readings;
};

static inline void dvm_learn(struct dvm_core_gauge* gauge, double ratio) {
  if (gauge->readings % dvm_gauge_group == 0) gauge->low[0] = gauge->low[1] = gauge->low[2] = 1e9;
  for (int i = 0; i < 3; i++)
    if (ratio < gauge->low[i]) {
      const double higher = gauge->low[i];
      gauge->low[i] = ratio, ratio = higher;
    }
  if (++gauge->readings % dvm_gauge_group == 0 && (gauge->least == 0 || gauge->low[2] < gauge->least))
    gauge->least = gauge->low[2];
}

// Now. The first time it takes some milliseconds.
static inline int dvm_is_alone(struct dvm_core_gauge* gauge) {
  enum { at_first = 40 * dvm_gauge_group };
  const double most = 1.08;  // of the least: readings of a quiet core differ by some per cent
  while (gauge->readings < at_first) dvm_learn(gauge, dvm_core_ratio());
  const double ratio = dvm_core_ratio();
  dvm_learn(gauge, ratio);
  return ratio < most * gauge->least;
}
