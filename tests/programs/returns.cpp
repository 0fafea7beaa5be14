// Ways to leave a function: by several returns, 10,000 levels deep, by a jump to another function, by an exception, by longjmp(),
// and after a signal in its middle. Prints what must be printed if a tracer changes nothing.
#include <csetjmp>
#include <csignal>
#include <cstdio>

namespace {
volatile long sink;
std::jmp_buf place;
}  // namespace

extern "C" {
__attribute__((noinline)) long deep(long n) {
  const long below = n == 0 ? -1 : deep(n - 1);
  sink = below;
  sink = n;  // no branch leads to what follows, so an agent can take its place
  return below + 1;
}
__attribute__((noinline)) void throws(long n) {
  sink = n;
  if (n == 2) throw n;
}
__attribute__((noinline)) long passes(long n) {
  throws(n);
  sink = n;
  return n;
}
__attribute__((noinline)) long jumps(long n) {
  sink = n;
  if (n == 3) std::longjmp(place, 1);
  return n;
}
__attribute__((noinline)) long interrupted(long n) {
  raise(SIGUSR1);
  return n + 1;
}
long two_ways(long n);
void unknown_ways(long n);
long tail(long n);
}
// Leaves at offset 6 or 9; and by a jump.
asm(".text\n.globl two_ways\n.type two_ways, @function\ntwo_ways:\n test %rdi, %rdi\n jne 1f\n push %rdi\n pop %rax\n ret\n"
    "1: mov %rdi, %rax\n ret\n.size two_ways, . - two_ways\n"
    // Jumps where a register says, in a way that no compiler does.
    ".globl unknown_ways\n.type unknown_ways, @function\nunknown_ways:\n .cfi_startproc\n push %rbx\n .cfi_def_cfa_offset 16\n"
    " call throws\n lea 1f(%rip), %rbx\n mov %rbx, %rax\n jmp *%rax\n1: pop %rbx\n .cfi_def_cfa_offset 8\n ret\n .cfi_endproc\n"
    ".size unknown_ways, . - unknown_ways\n"
    ".globl tail\n.type tail, @function\ntail:\n inc %rdi\n jmp two_ways\n.size tail, . - tail\n");

int main() {
  signal(SIGUSR1, [](int) { sink = sink + 1; });
  long caught = 0;
  for (long n = 0; n < 4; n++) {
    try {
      passes(n);
    } catch (long what) {
      caught += what;
    }
    try {
      unknown_ways(n);
    } catch (long what) {
      caught += what;
    }
    if (setjmp(place) == 0) jumps(n);
  }
  const long ways = two_ways(0) + two_ways(5) + tail(6) + interrupted(1);
  std::printf("%ld %ld %ld\n", deep(10000), caught, ways);
}
