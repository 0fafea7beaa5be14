/* Functions that the compiler inlines into each other. usage: inlined ROUNDS */
#include <stdlib.h>

static volatile unsigned long total;

__attribute__((always_inline)) static inline void innermost(unsigned long n) {
  total += n * n; /* the line of innermost */
  total ^= n << 3;
}

__attribute__((always_inline)) static inline void middle(unsigned long n) {
  for (unsigned long i = 0; i < 100; i++)
    innermost(n + i); /* the line of middle */
}

__attribute__((noinline)) void outer(unsigned long n) {
  middle(n); /* the line of outer */
}

int main(int argc, char** argv) {
  const unsigned long rounds = argc > 1 ? strtoul(argv[1], 0, 10) : 1;
  for (unsigned long i = 0; i < rounds; i++) outer(i);
  return 0;
}
