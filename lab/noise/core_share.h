#pragma once
// Detects a busy neighbour on the SMT sibling. On a rented machine nothing else shows it: no process, no load, no stolen time.
// While the neighbour is awake each thread has half of the core's look-ahead, and work takes up to twice as long. Two independent
// chains of multiplications are timed, too far apart for half a look-ahead to overlap them:
//
//   instructions apart   idle sibling   busy sibling     cycles of both, there and back; Intel Xeon (Emerald Rapids)
//                  150   113            140 and more
//                  300   148, 149       240 to 400
//
// Processors look ahead over 224 to 512 instructions, so for each of them one of the two distances lies within that and beyond
// its half. The cycles with an idle sibling depend on the processor but are constant: a reading counts by its distance from the
// lowest one. Pieces of 50 us of replayed firings between two quiet readings took what the quickest took within 5 % (94 % of
// 7000), others 25 to 80 % longer. x86-64.

#include <stdint.h>
#include <x86intrin.h>

// The cycle counter, read when all earlier instructions are done and no later one has begun.
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

// Times the two chains, `distance` instructions apart, there and back.
#define DVM_TIME_APART(name, distance)                                                      \
  static inline uint64_t name(int turns) {                                                  \
    uint64_t a = 3, b = 5;                                                                  \
    const uint64_t begin = dvm_ticks();                                                     \
    for (int i = 0; i < turns; i++)                                                         \
      __asm__ volatile(".rept 30\n imul %0, %0\n .endr\n .rept " #distance                  \
                       "\n nop\n .endr\n"                                                   \
                       ".rept 30\n imul %1, %1\n .endr\n .rept " #distance "\n nop\n .endr" \
                       : "+r"(a), "+r"(b));                                                 \
    return dvm_ticks() - begin;                                                             \
  }
DVM_TIME_APART(dvm_time_near, 150)
DVM_TIME_APART(dvm_time_far, 300)

// Cycles of the two chains at both distances, and cycles of the core in a tick of the counter. Takes three microseconds. The
// chains are the middle ones of three, and the speed is the highest, because an interrupt may spoil one of them.
enum { dvm_distances = 2 };
struct dvm_reading {
  double cycles[dvm_distances], speed;
};

static inline double dvm_middle_of_three(const double* of) {
  const double low = of[0] < of[1] ? of[0] : of[1], high = of[0] < of[1] ? of[1] : of[0];
  return of[2] < low ? low : of[2] > high ? high : of[2];
}

static inline struct dvm_reading dvm_read_core(void) {
  const int chain_turns = 50, turns = 4;
  const double chain_cycles = 3.0 * 10 * chain_turns;
  double near[3], far[3], speed = 0;
  for (int i = 0; i < 3; i++) {
    const double now = chain_cycles / (double)dvm_time_chain(chain_turns);
    near[i] = (double)dvm_time_near(turns) / turns * now;
    far[i] = (double)dvm_time_far(turns) / turns * now;
    speed = now > speed ? now : speed;
  }
  const struct dvm_reading reading = {{dvm_middle_of_three(near), dvm_middle_of_three(far)}, speed};
  return reading;
}

// The lowest cycles that several readings in a row agreed on; a single one may be too low, if the chain was slowed down. Nothing
// is quiet until there are any.
struct dvm_least {
  double least;           // 0: not known
  double first, highest;  // of the readings in a row that agree
  int same;               // how many
};
struct dvm_gauge {
  struct dvm_least of[dvm_distances];
};

static inline void dvm_keep_least(struct dvm_least* of, double cycles) {
  enum { row = 8 };
  const double apart = 1.01;
  const int is_same = cycles < apart * of->first && cycles > of->first / apart;
  of->highest = is_same && of->highest > cycles ? of->highest : cycles;
  of->same = is_same ? of->same + 1 : 1;
  if (!is_same) of->first = cycles;
  if (of->same >= row && (of->least == 0 || of->highest < of->least)) of->least = of->highest;
}

static inline int dvm_is_least(struct dvm_least* of, double cycles) {
  const double above = 1.05;
  dvm_keep_least(of, cycles);
  return cycles < above * of->least && cycles > of->least / above;
}

static inline int dvm_is_quiet(struct dvm_gauge* gauge, const struct dvm_reading* reading) {
  int is_quiet = 1;
  for (int i = 0; i < dvm_distances; i++) is_quiet = dvm_is_least(&gauge->of[i], reading->cycles[i]) && is_quiet;
  return is_quiet;
}

struct dvm_core {
  int is_quiet;
  double speed;  // as in a reading
};

static inline struct dvm_core dvm_look_at_core(struct dvm_gauge* gauge) {
  const struct dvm_reading reading = dvm_read_core();
  const struct dvm_core core = {dvm_is_quiet(gauge, &reading), reading.speed};
  return core;
}

// A gauge that knows the cycles with an idle sibling.
static inline struct dvm_gauge dvm_known_gauge(double near, double far) {
  const struct dvm_gauge gauge = {{{near, 0, 0, 0}, {far, 0, 0, 0}}};
  return gauge;
}

// A gauge that has read the core for so many ticks: a neighbour is rarely busy all the time.
static inline struct dvm_gauge dvm_new_gauge(uint64_t ticks) {
  struct dvm_gauge gauge = {{{0, 0, 0, 0}, {0, 0, 0, 0}}};
  const uint64_t begin = dvm_ticks();
  do dvm_look_at_core(&gauge);
  while (dvm_ticks() - begin < ticks);
  return gauge;
}

// The former if both cycles are known (not 0), otherwise the latter.
static inline struct dvm_gauge dvm_first_gauge(double near, double far, uint64_t ticks) {
  return near > 0 && far > 0 ? dvm_known_gauge(near, far) : dvm_new_gauge(ticks);
}

// The time between two readings, scaled to another speed of the core. 0: not scaled.
static inline double dvm_at_speed(double time, struct dvm_core before, struct dvm_core after, double speed) {
  return speed > 0 ? time * (before.speed + after.speed) / 2 / speed : time;
}

static inline int dvm_are_quiet(struct dvm_core before, struct dvm_core after) { return before.is_quiet && after.is_quiet; }
