// Built without frame pointers: a comparison that a library calls, for long enough to be sampled, a sleep and a system call at the end.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile long sum;

static __attribute__((noinline)) int compare(const void *a, const void *b) {
  for (int i = 0; i < 200; i++) sum += i;
  return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) void sort_it(void) {
  static int values[1000];
  for (int i = 0; i < 1000; i++) values[i] = i * 7919 % 1000;
  qsort(values, 1000, sizeof *values, compare);
  sum++;
}

static __attribute__((noinline)) void report(void) {
  if (write(1, "", 0) < 0) sum++;
  sum++;
}

static __attribute__((noinline)) void rest(void) {
  if (nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL) < 0) sum++;
  sum++;
}

static double cpu_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

int main(void) {
  while (cpu_seconds() < 0.3) sort_it();
  rest();
  report();
  return sum == 0;
}
