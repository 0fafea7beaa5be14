#pragma once
// How long an interrupt keeps a thread from running, though nobody else is given the CPU: the CPU time of a thread knows nothing
// of it. For C and C++, x86-64.
//
// The thread reads the cycle counter over and over. Between two readings lie some ticks; an interrupt makes it more than the
// shortest gap that counts, and in what takes longer than the longest another thread ran. Of all the time in gaps half lies in
// those that are no longer than the one that counts as the usual: the interrupts of a fast timer are nearly all of that time.
// What is rare (the kernel's own tick, a host that has something to do, which makes the mean another one each time) does not move
// it.

#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

#include "lab/noise/core_share.h"

static inline int64_t dvm_ns_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

// Ticks of gaps between two readings, by their length.
enum { dvm_shortest_gap = 500, dvm_longest_gap = 200000, dvm_gap_step = 50, dvm_gap_steps = dvm_longest_gap / dvm_gap_step };
struct dvm_gaps {
  double of[dvm_gap_steps], all;
};

static inline void dvm_add_gap(struct dvm_gaps* gaps, double ticks) {
  const int step = (int)ticks / dvm_gap_step;
  gaps->of[step < dvm_gap_steps ? step : dvm_gap_steps - 1] += ticks;
  gaps->all += ticks;
}

static inline double dvm_usual_gap(const struct dvm_gaps* gaps) {
  double below = 0;
  for (int step = 0; step < dvm_gap_steps; step++) {
    const double more = gaps->of[step];
    if (more > 0 && below + more >= gaps->all / 2) return (step + (gaps->all / 2 - below) / more) * (int)dvm_gap_step;
    below += more;
  }
  return 0;
}

// Watches for so many ns; the gaps that it had room for.
static inline int dvm_watch(int64_t ns, uint64_t* gaps, int room) {
  enum { turns = 256 };
  const int64_t end = dvm_ns_now() + ns;
  uint64_t last = __rdtsc();
  int count = 0;
  do {
    for (int turn = 0; turn < turns; turn++) {
      const uint64_t now = __rdtsc(), gap = now - last;
      if (gap > dvm_shortest_gap && gap < dvm_longest_gap && count < room) gaps[count++] = gap;
      last = now;
    }
  } while (dvm_ns_now() < end);
  return count;
}

// Ns of the usual interrupt while the caller watches for so many ns and a little more, as on a core of its own that has this
// speed (core_share.h; 0: its own), and which share of the time it was one. Where it was too little of it, all interrupts count.
// 0: there was none.
static inline double dvm_interrupt_time(struct dvm_gauge* gauge, double speed, int64_t wanted, double* quiet_share) {
  enum { room = 512 };
  const int64_t slice = wanted < 400000 ? wanted : 400000;
  const double enough = 0.02;
  struct dvm_gaps quiet = {{0}, 0}, all = {{0}, 0};
  uint64_t gaps[room];
  int slices = 0, quiet_slices = 0;
  struct dvm_core before = dvm_look_at_core(gauge);
  const int64_t begin = dvm_ns_now();
  const uint64_t ticks = __rdtsc();
  do {
    const int count = dvm_watch(slice, gaps, room);
    const struct dvm_core after = dvm_look_at_core(gauge);
    const int is_quiet = dvm_are_quiet(before, after);
    for (int i = 0; i < count; i++) {
      const double gap = dvm_at_speed((double)gaps[i], before, after, speed);
      dvm_add_gap(&all, gap);
      if (is_quiet) dvm_add_gap(&quiet, gap);
    }
    slices++, quiet_slices += is_quiet;
    before = after;
  } while (dvm_ns_now() - begin < wanted);
  const double ns_of_tick = (double)(dvm_ns_now() - begin) / (double)(__rdtsc() - ticks);
  *quiet_share = (double)quiet_slices / slices;
  return dvm_usual_gap(*quiet_share >= enough ? &quiet : &all) * ns_of_tick;
}
