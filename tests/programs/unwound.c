// Built without frame pointers: one function reached through the C library, out of a signal handler, and below a frame of a size
// that is known only when it runs. A tracer finds the callers by call frame information alone.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) int bottom(int n) {
  __asm__ volatile("" ::: "memory");
  return n + 1;
}

static int compare(const void* a, const void* b) { return bottom(*(const int*)a) - bottom(*(const int*)b); }

__attribute__((noinline)) int sort(void) {
  int numbers[2] = {2, 1};
  qsort(numbers, 2, sizeof numbers[0], compare);
  return numbers[0];
}

static volatile int handled;
static void handler(int signal) { handled = bottom(signal); }

__attribute__((noinline)) int interrupted(void) {
  raise(SIGUSR1);
  return handled;
}

__attribute__((noinline)) int realigned(int size) {
  _Alignas(64) char line[64];
  char* more = __builtin_alloca((size_t)size);
  memset(more, size, (size_t)size);
  memset(line, size, sizeof line);
  __asm__ volatile("" ::"r"(more), "r"(line) : "memory");
  return bottom(more[0]) + line[0];
}

int main(void) {
  signal(SIGUSR1, handler);
  const int sum = sort() + interrupted() + realigned(100);
  return printf("%d\n", sum) < 0;
}
