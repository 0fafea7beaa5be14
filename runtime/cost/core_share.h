#pragma once
// Whether the caller has its core for itself. A core runs two threads at a time, and on a rented machine the other one may be
// somebody else's, whom nothing here shows: no process, no load, no stolen time. What it takes away is room to do several steps
// at once: a chain of steps that wait for each other takes as long as ever, work that is wide up to twice as long. So the two are
// timed one after the other, and their ratio tells: it is least when nobody else is there, whatever the speed of the core.
// For C and C++, x86-64.

#include <stdint.h>
#include <x86intrin.h>

enum { dvm_gauge_steps = 500, dvm_gauge_turns = 3, dvm_gauge_group = 32, dvm_gauge_parts = 300 };

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

// What a process has learnt of its core; zeros at first. least: the ratio of a core that is its own, of which there are many
// readings close together. Below them lie some that are no ratio of anything, and they, too, may come a dozen in a row.
struct dvm_core_gauge {
  double least;
  uint32_t readings, of[dvm_gauge_parts];  // in hundredths of a ratio; the last one: and above
};

// The middle of the lowest few hundredths next to each other that have their share of the readings.
static inline double dvm_least_ratio(const struct dvm_core_gauge* gauge) {
  enum { together = 3, share = 64 };
  for (int at = together - 1; at < dvm_gauge_parts; at++) {
    const uint32_t near = gauge->of[at] + gauge->of[at - 1] + gauge->of[at - 2];
    if (near > 0 && near >= gauge->readings / share) return (at - 0.5) / 100;
  }
  return dvm_gauge_parts / 100;
}

static inline void dvm_learn(struct dvm_core_gauge* gauge, double ratio) {
  const int last = dvm_gauge_parts - 1;
  gauge->of[ratio * 100 < last ? (int)(ratio * 100) : last]++;
  if (++gauge->readings % dvm_gauge_group == 0) gauge->least = dvm_least_ratio(gauge);
}

// A reading, which it learns from. The first time it takes some milliseconds.
static inline double dvm_read_core(struct dvm_core_gauge* gauge) {
  enum { at_first = 40 * dvm_gauge_group };
  while (gauge->readings < at_first) dvm_learn(gauge, dvm_core_ratio());
  const double ratio = dvm_core_ratio();
  dvm_learn(gauge, ratio);
  return ratio;
}

// Whether a reading was one of a core that is the process's own, by all that it has learnt since, too.
static inline int dvm_was_alone(const struct dvm_core_gauge* gauge, double ratio) {
  const double most = 1.08;  // of the least: readings of a quiet core differ by some per cent
  return ratio < most * gauge->least;
}

// Now.
static inline int dvm_is_alone(struct dvm_core_gauge* gauge) {
  const double ratio = dvm_read_core(gauge);
  return dvm_was_alone(gauge, ratio);
}

// What this file of the program has learnt: for one thread.
static inline struct dvm_core_gauge* dvm_own_gauge(void) {
  static struct dvm_core_gauge gauge;
  return &gauge;
}
