#pragma once
// Whether the caller has its core for itself. A core runs two threads at a time, and on a rented machine the other one may be
// somebody else's, whom nothing here shows: no process, no load, no stolen time. What it takes away is room to do several steps
// at once: a chain of steps that wait for each other takes as long as ever, work that is wide up to twice as long. So both are
// timed, one after the other, and the speed of the core, which nobody knows, is the same for both:
//
//   chain   multiplications, each of the result of the one before            3 cycles a step
//   wide    four additions that wait for nothing but the four before them    1.0 to 1.15 cycles a step on a core of one's own
//
// How much more than one cycle depends on the processor, and is always the same: what counts is how far a reading lies above the
// lowest one. On an AMD EPYC quiet ones read 1.06 to 1.11 cycles and others up to 2.8; on an Intel Xeon (Emerald Rapids) 1.144 to
// 1.158 and others from 1.2 to 2.4, within the same second. Of the quiet samples of a switch in a loop 95 of 100 lay within 1.5
// %, others took up to 40 % longer. All this holds for x86-64 processors with at least four units for additions, those of the
// last ten years; on others no core is ever quiet. For C and C++.

#include <stdint.h>
#include <x86intrin.h>

// The counter when all that comes before is done, and nothing that follows has begun: a processor looks hundreds of steps ahead.
static inline uint64_t dvm_ticks(void) {
  _mm_lfence();
  const uint64_t ticks = __rdtsc();
  _mm_lfence();
  return ticks;
}

static inline uint64_t dvm_time_chain(int turns) {
  uint64_t value = 3;
  const uint64_t begin = dvm_ticks();
  for (int i = 0; i < turns; i++) __asm__ volatile(".rept 10\n imul %0, %0\n .endr" : "+r"(value));
  return dvm_ticks() - begin;
}

static inline uint64_t dvm_time_wide(int turns) {
  uint64_t a = 1, b = 2, c = 3, d = 4;
  const uint64_t begin = dvm_ticks(), added = 7;
  for (int i = 0; i < turns; i++)
    __asm__ volatile(".rept 20\n add %4, %0\n add %4, %1\n add %4, %2\n add %4, %3\n .endr"
                     : "+r"(a), "+r"(b), "+r"(c), "+r"(d)
                     : "r"(added));
  return dvm_ticks() - begin;
}

// What is found in some three microseconds: cycles of a wide step, and cycles of the core in a tick of the counter. Of three
// readings the step in the middle and the fastest chain, since an interrupt makes one of them anything.
struct dvm_reading {
  double step, speed;
};

static inline struct dvm_reading dvm_read_core(void) {
  enum { chain_turns = 50, wide_turns = 80 };
  const double chain_cycles = 3.0 * 10 * (int)chain_turns, wide_steps = 20.0 * (int)wide_turns;
  double of[3], speed = 0;
  for (int i = 0; i < 3; i++) {
    const double now = chain_cycles / (double)dvm_time_chain(chain_turns);
    of[i] = (double)dvm_time_wide(wide_turns) / wide_steps * now;
    speed = now > speed ? now : speed;
  }
  const double low = of[0] < of[1] ? of[0] : of[1], high = of[0] < of[1] ? of[1] : of[0];
  const struct dvm_reading reading = {of[2] < low ? low : of[2] > high ? high : of[2], speed};
  return reading;
}

// What quiet readings are told by: the lowest that several in a row were, since where the chain was slowed down a reading is too
// low. To begin with, the highest that quiet cores are known to have.
struct dvm_gauge {
  double least;
  double first, highest;  // of those in a row that were the same
  int same;               // how many
};
#define DVM_NEW_GAUGE \
  { 1.15, 0, 0, 0 }

static inline void dvm_keep_least(struct dvm_gauge* gauge, double cycles) {
  enum { row = 8 };
  const double apart = 1.01;
  const int is_same = cycles < apart * gauge->first && cycles > gauge->first / apart;
  gauge->highest = is_same && gauge->highest > cycles ? gauge->highest : cycles;
  gauge->same = is_same ? gauge->same + 1 : 1;
  if (!is_same) gauge->first = cycles;
  if (gauge->same >= row && gauge->highest < gauge->least) gauge->least = gauge->highest;
}

static inline int dvm_is_quiet_step(struct dvm_gauge* gauge, double cycles) {
  const double above = 1.05;
  dvm_keep_least(gauge, cycles);
  return cycles < above * gauge->least && cycles > gauge->least / above;
}

// The core now.
struct dvm_core {
  int is_quiet;
  double speed;  // as in a reading
};

static inline struct dvm_core dvm_look_at_core(struct dvm_gauge* gauge) {
  const struct dvm_reading reading = dvm_read_core();
  const struct dvm_core core = {dvm_is_quiet_step(gauge, reading.step), reading.speed};
  return core;
}

// What passed between two looks, as it would have at another speed. 0: it stays as it is.
static inline double dvm_at_speed(double time, struct dvm_core before, struct dvm_core after, double speed) {
  return speed > 0 ? time * (before.speed + after.speed) / 2 / speed : time;
}

static inline int dvm_are_quiet(struct dvm_core before, struct dvm_core after) { return before.is_quiet && after.is_quiet; }
