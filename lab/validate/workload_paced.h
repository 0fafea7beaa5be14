/* Part of workload.c. The job of dvm simulate --check: threads that call a function at a rate, so many milliseconds long.
 *
 *   paced RATE 0 MS THREADS KEYS    RATE calls a second of each thread, 0: as fast as they can; each key as likely as another
 *
 * Between calls a thread sleeps, for no regular time: what it calls in one go is a small part of what fires between two looks of
 * dvm, and threads do not call in step. What a thread could not call in time, since it had no CPU, it makes up for between its
 * next naps. What it calls in one go is a piece (workload_pieces.h). */
#include <pthread.h>
#include <sys/prctl.h>

#include "lab/validate/workload_naps.h"

enum { PACED_BATCH = 512, PACED_THREADS = 64 };

static struct {
  long rate, period, threads, keys, calls;  // period: ms
} paced;

TRACED void workload_paced(unsigned long key) {
  (void)key;
  KEEP_FRAME();
}

static unsigned long next_random(unsigned long* state) {
  *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
  return *state;
}

static long long mean_nap(void) { return (long long)paced_mean_nap((double)paced.rate); }

static long long nap(unsigned long* state) {
  const long long mean = mean_nap();
  return mean / 2 + (long long)(next_random(state) % (unsigned long)mean);
}

/* In one go. */
static long most_calls(void) {
  const long most = paced.rate == 0 ? PACED_BATCH : 1 + 4 * (long)(mean_nap() * paced.rate / 1000000000);
  return most < PACED_BATCH ? most : PACED_BATCH;
}

/* So many, as one piece. */
static void call_some(long count, unsigned long* state, struct dvm_gauge* of_thread, long long of_clock) {
  const struct dvm_core before = dvm_look_at_core(of_thread);
  const long long begin = now(CLOCK_THREAD_CPUTIME_ID);
  for (long i = 0; i < count; i++) workload_paced(next_random(state) % (unsigned long)paced.keys);
  const double ns = (double)(now(CLOCK_THREAD_CPUTIME_ID) - begin - of_clock);
  keep_piece(count, ns, before, dvm_look_at_core(of_thread));
}

static void* call_paced(void* calls) {
  unsigned long state = 88172645463325252ul + (unsigned long)pthread_self();
  struct dvm_gauge of_thread = gauge;
  const long long of_clock = time_clock();
  const long long begin = now(CLOCK_MONOTONIC), end = begin + paced.period * 1000000ll;
  const long most = most_calls();
  long done = 0;
  prctl(PR_SET_TIMERSLACK, 1ul);
  for (long long at = begin; at < end; at = now(CLOCK_MONOTONIC)) {
    const long due = paced.rate == 0 ? done + most : (long)((double)(at - begin) * (double)paced.rate / 1e9);
    const long some = due - done > most ? most : due - done;
    if (some > 0) call_some(some, &state, &of_thread, of_clock);
    done += some;
    if (paced.rate == 0) continue;
    const long long next = begin + (long long)((double)(done + 1) * 1e9 / (double)paced.rate) + 1, rested = at + nap(&state);
    rest_until(next > rested ? next : rested);
  }
  *(long*)calls = done;
  return NULL;
}

static void job_paced(long rate) {
  pthread_t threads[PACED_THREADS];
  long calls[PACED_THREADS] = {0}, made = 0;
  paced.rate = rate, paced.calls = 0;
  if (paced.keys < 1) paced.keys = 1;
  while (made < paced.threads && made < PACED_THREADS && pthread_create(&threads[made], NULL, call_paced, &calls[made]) == 0)
    made++;
  for (long i = 0; i < made; i++) pthread_join(threads[i], NULL), paced.calls += calls[i];
}
