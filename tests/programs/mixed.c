// Linked from two objects: this one keeps frame pointers, mixed_bare.c does not. The calls go to and fro between them, through the
// C library, and deeper than a tracer copies of the stack.
#include <stdlib.h>
#include <string.h>

int bare_middle(int n);

__attribute__((noinline)) int bottom(int n) {
  __asm__ volatile("" ::: "memory");
  return n + 1;
}

__attribute__((noinline)) int kept_inner(int n) { return bottom(n) + 1; }

static int compare(const void *a, const void *b) { return bottom(*(const int *)a) - *(const int *)b; }

__attribute__((noinline)) int sort(void) {
  int numbers[2] = {1, 2};
  qsort(numbers, 2, sizeof numbers[0], compare);
  return numbers[0];
}

__attribute__((noinline)) int deep(int n) {
  char room[512];
  memset(room, n, sizeof room);
  __asm__ volatile("" ::"r"(room) : "memory");
  return (n == 0 ? bottom(n) : deep(n - 1)) + room[0];
}

int main(void) { return bare_middle(1) + sort() + deep(20) == 0; }
