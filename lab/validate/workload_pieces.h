/* Part of workload.c. A job is done in pieces. The time of a round is that of the pieces with an idle SMT sibling before and after,
 * scaled to one speed of the core (core_share.h). If these are too few, all count. All pieces do the same, so their median counts: a
 * neighbour that came in between, or an interrupt, makes some longer. */
#include <stdbool.h>
#include <stdlib.h>

#include "lab/noise/core_share.h"

enum { MOST_PIECES = 1 << 15, PIECE_NS = 50000 };
static const double enough = 0.02; /* of the rounds */
static double core_speed;          /* that times are given at; 0: as they were */

static struct piece {
  double rounds, ns;
  double as_it_was; /* ns, at the speed that the core had */
  bool is_quiet;
} pieces[MOST_PIECES];
static size_t piece_count;
static struct dvm_gauge gauge;

/* Of any thread. */
static void keep_piece(long rounds, double ns, struct dvm_core before, struct dvm_core after) {
  const double taken = ns > 0 ? ns : 0, at_speed = dvm_at_speed(taken, before, after, core_speed);
  const size_t at = __atomic_fetch_add(&piece_count, 1, __ATOMIC_RELAXED);
  if (at < MOST_PIECES) pieces[at] = (struct piece){(double)rounds, at_speed, taken, dvm_are_quiet(before, after)};
}
static const struct piece* end_of_pieces(void) { return pieces + (piece_count < MOST_PIECES ? piece_count : MOST_PIECES); }

/* What reading the clock adds to a piece: the least of some times. */
static long long time_clock(void) {
  long long least = PIECE_NS;
  for (int i = 0; i < 32; i++) {
    const long long begin = now(CLOCK_THREAD_CPUTIME_ID), taken = now(CLOCK_THREAD_CPUTIME_ID) - begin;
    if (taken < least) least = taken;
  }
  return least;
}

static double time_piece(job_fn* job, long rounds, long long of_clock) {
  const long long begin = now(CLOCK_THREAD_CPUTIME_ID);
  job(rounds);
  return (double)(now(CLOCK_THREAD_CPUTIME_ID) - begin - of_clock);
}

/* At full speed. Pieces are made longer until they are long enough. */
static void run_in_pieces(job_fn* job, long rounds) {
  const long long of_clock = time_clock();
  struct dvm_core before = dvm_look_at_core(&gauge);
  for (long size = 1, left = rounds; left > 0;) {
    const long some = left < size ? left : size;
    const double ns = time_piece(job, some, of_clock);
    const struct dvm_core after = dvm_look_at_core(&gauge);
    keep_piece(some, ns, before, after);
    before = after, left -= some;
    if (ns < PIECE_NS) size *= 2;
  }
}

/* Going to sleep and waking up cost as much as the machine has it, and are no part of a burst. */
static void run_in_bursts(job_fn* job, long rounds, long burst, long period) {
  const long long of_clock = time_clock();
  for (long long next = now(CLOCK_MONOTONIC) + period; rounds > 0; rounds -= burst, next += period) {
    const long some = rounds < burst ? rounds : burst;
    const struct dvm_core before = dvm_look_at_core(&gauge);
    const double ns = time_piece(job, some, of_clock);
    keep_piece(some, ns, before, dvm_look_at_core(&gauge));
    rest_until(next);
  }
}

static bool counts(const struct piece* piece, bool only_quiet) { return piece->is_quiet || !only_quiet; }

static double rounds_of_pieces(bool only_quiet) {
  double sum = 0;
  for (const struct piece* at = pieces; at < end_of_pieces(); at++)
    if (counts(at, only_quiet)) sum += at->rounds;
  return sum;
}

static double quiet_share(void) {
  const double all = rounds_of_pieces(false);
  return all > 0 ? rounds_of_pieces(true) / all : 0;
}

static int compare_numbers(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

static double middle_of_pieces(bool only_quiet) {
  static double of_round[MOST_PIECES];
  size_t count = 0;
  for (const struct piece* at = pieces; at < end_of_pieces(); at++)
    if (counts(at, only_quiet)) of_round[count++] = at->ns / at->rounds;
  qsort(of_round, count, sizeof *of_round, compare_numbers);
  return count > 0 ? of_round[count / 2] : 0;
}

/* The mean of a round, if pieces differ: those after a sleep take longer. Pieces that took three times as long as they should were
 * interrupted, and are left out. */
static double mean_of_pieces(bool only_quiet) {
  const double most = 3;
  double all = 0, kept = 0, ns = 0, sum = 0;
  for (const struct piece* at = pieces; at < end_of_pieces(); at++)
    if (counts(at, only_quiet)) all += at->rounds, sum += at->ns;
  for (const struct piece* at = pieces; at < end_of_pieces(); at++)
    if (counts(at, only_quiet) && at->ns * all <= most * at->rounds * sum) kept += at->rounds, ns += at->ns;
  return kept > 0 ? ns / kept : 0;
}

/* The rounds of all pieces, as they were. */
static double time_as_it_was(void) {
  double sum = 0;
  for (const struct piece* at = pieces; at < end_of_pieces(); at++) sum += at->as_it_was;
  return sum;
}
