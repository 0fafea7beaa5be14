// Calls func("hello DTrace", a copy of it on the heap) CALLS times, and prints the median time of a call over pieces of some thousand calls.
//
// usage: called CALLS [none | jump | count | predicate | clock | latency [PAUSE]]
//
// PAUSE: us between two pieces, in which a tracer reads what the calls have recorded. The thread does not sleep meanwhile.
//
// func() is that of lab/validate/called_function.h, with PAD bytes before it. The second argument places jumps in it, to stubs
// written by hand, each of which does the least that its clause needs: a jump and the replaced instructions, `@ = count()`, a
// false predicate on the argument, two readings of the time stamp counter, `quantize` of the time from entry to return.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "lab/validate/called_function.h"

#ifndef PAD
#define PAD 0
#endif
#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)

int func(const char* text, const char* copy);
extern char jump_stub[], count_stub[], predicate_stub[], clock_stub[], entry_stub[], return_stub[];
static __thread uint64_t count __asm__("stub_count") __attribute__((used)), began __asm__("stub_began") __attribute__((used));
static __thread uint64_t times[65] __asm__("stub_times") __attribute__((used));

__asm__(
    ".text\n"
    DVM_CALLED_FUNCTION("func", TEXT_OF(PAD))
    "jump_stub: push %rbp\n"
    "mov %rsp, %rbp\n"
    "xor %eax, %eax\n"
    "jmp func + 6\n"
    ".p2align 6\n"
    "count_stub: incq %fs:stub_count@tpoff\n"
    "jmp jump_stub\n"
    ".p2align 6\n"
    "predicate_stub: cmp $1, %rdi\n"
    "jne jump_stub\n"
    "jmp count_stub\n"
    ".p2align 6\n"
    "clock_stub: rdtsc\n"
    "rdtsc\n"
    "jmp jump_stub\n"
    ".p2align 6\n"
    "entry_stub: rdtsc\n"  // neither register has an argument here
    "shl $32, %rdx\n"
    "or %rax, %rdx\n"
    "mov %rdx, %fs:stub_began@tpoff\n"
    "jmp jump_stub\n"
    ".p2align 6\n"
    "return_stub: mov %rax, %r8\n"
    "rdtsc\n"
    "shl $32, %rdx\n"
    "or %rdx, %rax\n"
    "sub %fs:stub_began@tpoff, %rax\n"
    "lzcnt %rax, %rax\n"
    "incq %fs:stub_times@tpoff(,%rax,8)\n"
    "movq $0, %fs:stub_began@tpoff\n"
    "mov %r8, %rax\n"
    "pop %rbp\n"
    "ret\n"
    ".p2align 12\n");

static void jump(char* from, char* to) {
  unsigned char code[5] = {0xe9};
  const int32_t distance = (int32_t)(to - (from + sizeof code));
  memcpy(code + 1, &distance, sizeof distance);
  mprotect((void*)((uintptr_t)from & ~(uintptr_t)4095), 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
  memcpy(from, code, sizeof code);
}

// Found by its code: an agent does not replace an instruction whose address the program has.
static char* return_of_func(void) {
  static const unsigned char pop_and_ret[] = {0x5d, 0xc3};
  char* at = (char*)func;
  while (memcmp(at, pop_and_ret, sizeof pop_and_ret) != 0) at++;
  return at;
}

static void place(const char* stub) {
  static const struct {
    const char* name;
    char* to;
  } stubs[] = {
      {"jump", jump_stub}, {"count", count_stub}, {"predicate", predicate_stub}, {"clock", clock_stub}, {"latency", entry_stub}};
  for (size_t i = 0; i < sizeof stubs / sizeof stubs[0]; i++)
    if (strcmp(stub, stubs[i].name) == 0) jump((char*)func, stubs[i].to);
  if (strcmp(stub, "latency") == 0) jump(return_of_func(), return_stub);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void spin(double ns) {
  const double begin = now();
  while (now() - begin < ns) continue;
}

static int is_before(const void* one, const void* other) {
  const double a = *(const double*)one, b = *(const double*)other;
  return (a > b) - (a < b);
}

int main(int argc, char** argv) {
  enum { kPiece = 5000 };
  const long pieces = argc > 1 && atol(argv[1]) > kPiece ? atol(argv[1]) / kPiece : 1;
  double* taken = calloc((size_t)pieces, sizeof *taken);
  if (argc > 2) place(argv[2]);
  const double pause = argc > 3 ? atof(argv[3]) * 1e3 : 0;
  const char* copy = strdup("hello DTrace");
  long total = 0;
  spin(1e8);  // a core that was idle runs slower at first
  for (long piece = 0; piece < pieces; piece++) {
    const double begin = now();
    for (long i = 0; i < kPiece; i++) {
      total += func("hello DTrace", copy);
      __asm__ volatile("" : "+r"(total));
    }
    taken[piece] = (now() - begin) / kPiece;
    spin(pause);
  }
  qsort(taken, (size_t)pieces, sizeof *taken, is_before);
  printf("%f ns/call\n", taken[pieces / 2]);
  return total == 0;
}
