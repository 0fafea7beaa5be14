#pragma once
// Whether the caller has its core for itself. A core runs two threads at a time, and on a rented machine the other one may be
// somebody else's, whom nothing here shows: no process, no load, no stolen time. As long as that one is awake, whatever it does,
// each of the two has half of the instructions that the core looks ahead over, and the work of this one takes up to twice as
// long. So the caller times two chains of multiplications that do not wait for each other, so many instructions apart that a core
// of one's own sees the second while the first is under way, and half of one does not:
//
//   apart   alone     shared         cycles of both, there and back; Intel Xeon (Emerald Rapids), a million readings:
//     150   113       140 and more   nothing was between
//     300   148, 149  240 to 400
//
// Processors look ahead over 224 to 512 instructions: for each of them one of the two distances is within that and beyond its
// half. What a core of one's own reads depends on the processor, and is always the same: what counts is how far a reading lies
// above the lowest one. Of 7000 pieces of replayed firings, some 50 us each, those between two quiet readings took what the
// quickest took within 5 % (94 of 100), others 25 to 80 % longer. All this holds for x86-64. For C and C++.

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

// There and back, the two chains so many instructions apart.
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

// What is found in some three microseconds: cycles of the two chains at both distances, and cycles of the core in a tick of the
// counter. Of three readings those in the middle and the fastest chain, since an interrupt makes one of them anything.
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

// What quiet readings are told by: the lowest that several in a row were, since where the chain was slowed down a reading is too
// low. Until there were any, nothing is quiet.
struct dvm_least {
  double least;           // 0: not known
  double first, highest;  // of those in a row that were the same
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

// The core now.
struct dvm_core {
  int is_quiet;
  double speed;  // as in a reading
};

static inline struct dvm_core dvm_look_at_core(struct dvm_gauge* gauge) {
  const struct dvm_reading reading = dvm_read_core();
  const struct dvm_core core = {dvm_is_quiet(gauge, &reading), reading.speed};
  return core;
}

// A gauge that knows what a core of one's own reads, in cycles.
static inline struct dvm_gauge dvm_known_gauge(double near, double far) {
  const struct dvm_gauge gauge = {{{near, 0, 0, 0}, {far, 0, 0, 0}}};
  return gauge;
}

// A gauge that has looked at the core for so many ticks: somebody else is rarely there all the time.
static inline struct dvm_gauge dvm_new_gauge(uint64_t ticks) {
  struct dvm_gauge gauge = {{{0, 0, 0, 0}, {0, 0, 0, 0}}};
  const uint64_t begin = dvm_ticks();
  do dvm_look_at_core(&gauge);
  while (dvm_ticks() - begin < ticks);
  return gauge;
}

// One that knows these readings, or where one of them is 0 has looked for so many ticks.
static inline struct dvm_gauge dvm_first_gauge(double near, double far, uint64_t ticks) {
  return near > 0 && far > 0 ? dvm_known_gauge(near, far) : dvm_new_gauge(ticks);
}

// What passed between two looks, as it would have at another speed. 0: it stays as it is.
static inline double dvm_at_speed(double time, struct dvm_core before, struct dvm_core after, double speed) {
  return speed > 0 ? time * (before.speed + after.speed) / 2 / speed : time;
}

static inline int dvm_are_quiet(struct dvm_core before, struct dvm_core after) { return before.is_quiet && after.is_quiet; }
