// A program with markers of <sys/sdt.h>, for usdt probes: "markers ROUNDS [wait]" passes them so often and prints what it saw of
// its semaphores. With "wait" it reads a line first.
#define _SDT_HAS_SEMAPHORES 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>

#define SEMAPHORE __attribute__((section(".probes"), used)) volatile unsigned short
SEMAPHORE dvmtest_round__begin_semaphore;
SEMAPHORE dvmtest_round__end_semaphore;
SEMAPHORE dvmtest_widths_semaphore;
SEMAPHORE dvmtest_places_semaphore;
SEMAPHORE dvmtest_numbers_semaphore;
SEMAPHORE dvmtest_constants_semaphore;
SEMAPHORE dvmtest_vectors_semaphore;
// It lies in no file, as all that is 0 at the beginning.
volatile unsigned short dvmzeros_round_semaphore;

struct pair {
  long first;
  int second;
};
struct pair pairs[4] = {{10, 1}, {20, 2}, {30, 3}, {40, 4}};
long counter;

// One probe at two places, in two functions, with its arguments at different ones.
__attribute__((noinline)) void begin_round(int round, const char *name) { STAP_PROBE2(dvmtest, round__begin, round, name); }
__attribute__((noinline)) void begin_last_round(const char *name, int round) {
  STAP_PROBE2(dvmtest, round__begin, round, name);
}

__attribute__((noinline)) void pass_widths(signed char c, unsigned char uc, short s, unsigned short us, int i, unsigned int ui,
                                           long l) {
  STAP_PROBE7(dvmtest, widths, c, uc, s, us, i, ui, l);
}

__attribute__((noinline)) void pass_places(long n, const struct pair *all) {
  counter = n;
  STAP_PROBE5(dvmtest, places, counter, pairs[2].second, all[n].first, n, pairs[1].first);
}

// Written out, because GCC refuses a long double where <sys/sdt.h> may choose a general register for it.
__attribute__((noinline)) void pass_numbers(double number, long after) {
  const float rounded = (float)number;
  const long double extended = number;
  __asm__ __volatile__(STAP_PROBE_ASM(dvmtest, numbers, 8f@%0 -8@%1 4f@%2 16f@%3)
                       : : "m"(number), "nor"(after), "m"(rounded), "m"(extended));
}

// In vector registers, as other compilers pass them.
__attribute__((noinline)) void pass_vectors(double number, long after) {
  register const double low __asm__("xmm2") = number;
  register const float high __asm__("xmm13") = (float)-number;
  __asm__ __volatile__(STAP_PROBE_ASM(dvmtest, vectors, 8f@%0 -8@%1 4f@%2) : : "x"(low), "nor"(after), "x"(high));
  counter = after;  // leaves room for the jump of an agent
}

__attribute__((noinline)) void pass_constants(void) { STAP_PROBE3(dvmtest, constants, 5, -7, 1L << 40); }

__attribute__((noinline)) void pass_zeros(int round) {
  if (dvmzeros_round_semaphore == 0) return;
  STAP_PROBE1(dvmzeros, round, round);
  counter = round;  // leaves room for the jump of an agent
}

static int look(void) { return dvmtest_round__begin_semaphore + dvmtest_widths_semaphore; }

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  char line[16];
  if (argc > 2 && strcmp(argv[2], "wait") == 0) {
    puts("ready");
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin)) return 1;
  }
  int most = 0;
  for (int i = 1; i <= rounds; i++) {
    if (i == rounds)
      begin_last_round("last", i);
    else
      begin_round(i, "next");
    pass_widths((signed char)-i, (unsigned char)-i, (short)-i, (unsigned short)-i, -i, (unsigned int)-i, -(long)i);
    pass_places(i % 4, pairs);
    pass_numbers(i, i);
    pass_vectors(i + 0.5, i);
    pass_constants();
    pass_zeros(i);
    if (look() > most) most = look();
    STAP_PROBE1(dvmtest, round__end, i);
  }
  if (argc > 2) {
    printf("semaphores at most %d\n", most);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
      printf("semaphores %d\n", look());
      fflush(stdout);
    }
  }
  return 0;
}
