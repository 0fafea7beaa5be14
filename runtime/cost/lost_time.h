#pragma once
// How much of its time a thread was not running, though nobody else was given the CPU: what interrupts take, which the CPU time
// of a thread knows nothing of. For C and C++, x86-64.
//
// The thread reads the cycle counter over and over. Between two readings lie some ticks; an interrupt takes more than the
// shortest gap that counts, and in what takes longer than the longest another thread ran.

#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

static inline int64_t dvm_ns_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

// Of so many ns, and a little more, those that the caller was not running.
static inline double dvm_lost_time(int64_t wanted) {
  enum { shortest = 500, longest = 200000, turns = 256 };
  const int64_t begin_ns = dvm_ns_now();
  const uint64_t begin = __rdtsc();
  uint64_t last = begin, lost = 0;
  int64_t taken = 0;
  while (taken < wanted) {
    for (int turn = 0; turn < turns; turn++) {
      const uint64_t now = __rdtsc(), gap = now - last;
      if (gap > shortest && gap < longest) lost += gap;
      last = now;
    }
    taken = dvm_ns_now() - begin_ns;
  }
  return (double)taken * (double)lost / (double)(last - begin);
}
