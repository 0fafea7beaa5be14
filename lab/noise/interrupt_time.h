#pragma once
// How long an interrupt keeps a thread from running, which its CPU time does not show. The thread reads the cycle counter over
// and over: an interrupt makes a long gap between two readings, another thread a longer one. The usual gap is the one below which
// half of all time in gaps lies. The interrupts of a fast timer are nearly all of that time, so rare ones (the kernel's tick, the
// host) do not move it. x86-64.

#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

#include "lab/noise/core_share.h"

static inline int64_t dvm_ns_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

// Ticks in gaps between two readings, by the length of the gap.
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

// Watches for so many ns. Returns the number of gaps found, at most `room`.
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

// The usual time of an interrupt in ns, of those in at least `wanted` ns; 0: there was none.
// - speed: of the core, to scale it to; 0: not scaled.
// - quiet_share: the share of the time with an idle SMT sibling. If it is too small, all interrupts count.
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
