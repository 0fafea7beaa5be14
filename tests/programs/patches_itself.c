// Changes its own code, as hot patches and static keys do: calls work() 1000 times, replaces the nops at its entry by a jump to
// other(), and calls it 1000 times more. Then it puts the nops back, and does the same again.
//   before   makes the code writable before it says that it is ready
//   later    does so each time, and protects it again
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kCalls = 1000, kJump = 5 };

__attribute__((noinline, patchable_function_entry(kJump))) long work(long n) {
  __asm__ volatile("" : "+r"(n));
  return n * 3 + 1;
}
__attribute__((noinline)) long other(long n) {
  __asm__ volatile("" : "+r"(n));
  return n * 7 + 2;
}

static void protect(int protection) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)work & ~(page - 1);
  mprotect((void*)begin, (uintptr_t)work + kJump - begin, protection);
}

static long call_often(long sum) {
  for (long i = 0; i < kCalls; i++) sum = sum * 31 + work(i);
  return sum;
}

int main(int argc, char** argv) {
  const int is_before = argc > 1 && strcmp(argv[1], "before") == 0;
  const int32_t distance = (int32_t)((uintptr_t)other - (uintptr_t)work - kJump);
  unsigned char jump[kJump] = {0xe9}, nops[kJump];
  memcpy(jump + 1, &distance, sizeof distance);
  memcpy(nops, (const void*)(uintptr_t)work, kJump);
  if (is_before) protect(PROT_READ | PROT_WRITE | PROT_EXEC);
  puts("ready");
  fflush(stdout);
  getchar();
  long sums[4] = {0};
  for (int i = 0; i < 4; i++) {
    sums[i] = call_often(0);
    if (!is_before) protect(PROT_READ | PROT_WRITE | PROT_EXEC);
    memcpy((void*)(uintptr_t)work, i % 2 == 0 ? jump : nops, kJump);
    if (!is_before) protect(PROT_READ | PROT_EXEC);
  }
  puts(sums[0] == sums[2] && sums[1] == sums[3] && sums[0] != sums[1] ? "right" : "wrong");
  return 0;
}
