// "clocked N THREADS": each of THREADS threads (standard 1) calls clocked() N times (standard 10,000) with the time just before
// the call; it returns the time just before it returns.
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static long calls = 10000;

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000 + time.tv_nsec;
}

__attribute__((noinline)) long clocked(long before) {
  __asm__ volatile("" : "+r"(before)::"memory");
  volatile long after = now();
  return after;
}

static void* run(void* unused) {
  volatile long sum = 0;
  for (long i = 0; i < calls; i++) sum += clocked(now());
  return unused;
}

int main(int argc, char** argv) {
  const int threads = argc > 2 ? atoi(argv[2]) : 1;
  if (argc > 1) calls = atol(argv[1]);
  pthread_t others[16];
  for (int i = 1; i < threads && i < 16; i++) pthread_create(&others[i], NULL, run, NULL);
  run(NULL);
  for (int i = 1; i < threads && i < 16; i++) pthread_join(others[i], NULL);
  return 0;
}
