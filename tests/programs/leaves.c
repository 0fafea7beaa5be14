// Functions that leave by a jump to another one, with recursion, in a program without exceptions: "leaves COUNT" prints "ready",
// waits for a line, and calls recurs(7) COUNT times, so recurs() 8 times and rest_of_recurs() 7 times as often.
#include <stdio.h>
#include <stdlib.h>

long recurs(long n);
__attribute__((noinline)) long rest_of_recurs(long n) {
  volatile long below = recurs(n - 1);
  return below + 1;
}
__asm__(".text\n .globl recurs\n .type recurs, @function\n .balign 64\n"
        "recurs:\n .cfi_startproc\n nopl 64(%rax,%rax,1)\n test %rdi, %rdi\n .byte 0x0f, 0x85\n .long rest_of_recurs - . - 4\n"
        " mov $0, %eax\n ret\n .cfi_endproc\n .size recurs, . - recurs\n");

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 10;
  puts("ready");
  fflush(stdout);
  (void)getchar();
  long sum = 0;
  for (long i = 0; i < count; i++) sum += recurs(7);
  printf("%ld\n", sum);
}
