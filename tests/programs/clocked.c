// Calls clocked() N times (standard 10,000) with the time just before the call; it returns the time just before it returns.
#include <stdlib.h>
#include <time.h>

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

int main(int argc, char** argv) {
  long calls = argc > 1 ? atol(argv[1]) : 10000;
  volatile long sum = 0;
  for (long i = 0; i < calls; i++) sum += clocked(now());
  return 0;
}
