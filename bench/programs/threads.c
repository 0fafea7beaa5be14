// Prints by how many ns of CPU time a call of hit() takes longer than one of plain(), the same function elsewhere: by one thread
// that runs alone, and by four threads that run at the same time. A tracer has its probe on hit().
//
// usage: threads
//
// Each thread calls both in turn, for less than a millisecond each, and the two cases alternate. So the figures, which are
// medians of many such pairs, hardly depend on what else the machine does.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lab/validate/called_function.h"

enum { kThreads = 4, kCalls = 20000, kPairs = 64, kTurns = 60 };

__asm__(".text\n" DVM_CALLED_FUNCTION("hit", "0") DVM_CALLED_FUNCTION("plain", "0"));
int hit(const char*text), plain(const char*text);

static pthread_barrier_t barrier;
static double alone[kTurns][kPairs], together[kThreads][kTurns][kPairs];  // ns

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double time_of(int (*function)(const char*)) {
  long total = 0;
  const double begin = now();
  for (int i = 0; i < kCalls; i++) {
    total += function("hello DTrace");
    __asm__ volatile("" : "+r"(total));
  }
  return (now() - begin) / kCalls;
}

static void add_pairs(double* to) {
  for (int i = 0; i < kPairs; i++) {
    const double without = time_of(plain);
    to[i] = time_of(hit) - without;
  }
}

static void* run(void* number) {
  const size_t own = (size_t)number;
  for (int turn = 0; turn < kTurns; turn++) {
    pthread_barrier_wait(&barrier);
    if (own == 0) add_pairs(alone[turn]);
    pthread_barrier_wait(&barrier);
    add_pairs(together[own][turn]);
  }
  return NULL;
}

static int is_before(const void* one, const void* other) {
  const double a = *(const double*)one, b = *(const double*)other;
  return (a > b) - (a < b);
}

static double median(double* values, size_t count) {
  qsort(values, count, sizeof *values, is_before);
  return values[count / 2];
}

int main(void) {
  pthread_t threads[kThreads];
  pthread_barrier_init(&barrier, NULL, kThreads);
  for (size_t i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, run, (void*)i);
  for (size_t i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  printf("added %f %f\n", median(alone[0], sizeof alone / sizeof(double)),
         median(together[0][0], sizeof together / sizeof(double)));
}
