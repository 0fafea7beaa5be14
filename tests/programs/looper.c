// Calls func("hello DTrace") N times (standard 10,000,000) and prints the time of one call; with a second argument, waits for a
// line on its input first, so that a tracer can attach by pid.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) int func(const char* text) {
  int length = 0;
  while (text[length]) length++;
  __asm__ volatile("" ::: "memory");
  return length;
}

int main(int argc, char** argv) {
  long calls = argc > 1 ? atol(argv[1]) : 10000000;
  if (argc > 2) {
    printf("ready\n");
    fflush(stdout);
    (void)getchar();
  }
  volatile long total = 0;
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  for (long i = 0; i < calls; i++) total += func("hello DTrace");
  clock_gettime(CLOCK_MONOTONIC, &b);
  printf("%f ns/call\n", ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / (double)(calls ? calls : 1));
  return 0;
}
