// Calls named() with strings that begin at odd addresses, N times with the alignment-check flag set: loads across a multiple of
// their size fault then.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) void named(const char* text) { __asm__ volatile("" ::"r"(text) : "memory"); }

static void set_check(int is_on) {
  if (is_on)
    __asm__ volatile("pushfq; orq $0x40000, (%%rsp); popfq" ::: "memory", "cc");
  else
    __asm__ volatile("pushfq; andq $~0x40000, (%%rsp); popfq" ::: "memory", "cc");
}

int main(int argc, char** argv) {
  static const char texts[] __attribute__((aligned(16))) = "-a string of more than eight characters";
  const int calls = argc > 1 ? atoi(argv[1]) : 1;
  for (int i = 0; i < calls; i++) {
    set_check(1);
    named(texts + 1);
    named(texts + 3);
    named(texts + sizeof texts - 4);
    set_check(0);
  }
  puts("right");
  return 0;
}
