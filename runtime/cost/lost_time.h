#pragma once
// How much of its time a thread was not running, though nobody else was given the CPU: what interrupts take, which the CPU time
// of a thread knows nothing of. For C and C++, x86-64.
//
// The thread reads the cycle counter over and over. Between two readings lie some ticks; an interrupt takes more than the
// shortest gap that counts, and in what takes longer than the longest another thread ran.

#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

#include "runtime/cost/core_share.h"

static inline int64_t dvm_ns_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

// Of the gaps between two readings that count the ticks, and those of all.
struct dvm_gaps {
  double lost, all;
};

static inline struct dvm_gaps dvm_watch(int64_t ns) {
  enum { shortest = 500, longest = 200000, turns = 256 };
  const int64_t end = dvm_ns_now() + ns;
  const uint64_t begin = __rdtsc();
  uint64_t last = begin, lost = 0;
  do {
    for (int turn = 0; turn < turns; turn++) {
      const uint64_t now = __rdtsc(), gap = now - last;
      if (gap > shortest && gap < longest) lost += gap;
      last = now;
    }
  } while (dvm_ns_now() < end);
  const struct dvm_gaps gaps = {(double)lost, (double)(last - begin)};
  return gaps;
}

// Of so many ns, and a little more, those that the caller was not running, as it is on a core of its own that has this speed
// (core_share.h; 0: its own), and which share of the time it was one. Where it was too little of it, all counts.
static inline double dvm_lost_time_and_share(struct dvm_gauge* gauge, double speed, int64_t wanted, double* quiet_share) {
  const int64_t slice = wanted < 400000 ? wanted : 400000;
  const double enough = 0.02;
  struct dvm_gaps quiet = {0, 0}, all = {0, 0};
  struct dvm_core before = dvm_look_at_core(gauge);
  const int64_t begin = dvm_ns_now();
  do {
    struct dvm_gaps gaps = dvm_watch(slice);
    const struct dvm_core after = dvm_look_at_core(gauge);
    gaps.lost = dvm_at_speed(gaps.lost, before, after, speed);
    all.lost += gaps.lost, all.all += gaps.all;
    if (dvm_are_quiet(before, after)) quiet.lost += gaps.lost, quiet.all += gaps.all;
    before = after;
  } while (dvm_ns_now() - begin < wanted);
  *quiet_share = quiet.all / all.all;
  const struct dvm_gaps counts = *quiet_share >= enough ? quiet : all;
  return (double)(dvm_ns_now() - begin) * counts.lost / counts.all;
}
