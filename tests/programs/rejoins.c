// Calls leaves() with 0 to 9. For odd numbers it leaves as an exception does whose handler continues right behind the call: it drops
// its frame, calls another function from the frame of its caller, and jumps to its return address.
// Calls leaps() with 0 to 4. longjmp() leaves the first three calls.
#include <setjmp.h>
#include <stdio.h>

long leaves(long n);
__asm__(".text\n .globl leaves\n .type leaves, @function\n"
        "leaves:\n .cfi_startproc\n mov %rdi, %rax\n test $1, %dil\n jnz 1f\n ret\n"
        "1: pop %rdx\n call 2f\n jmp *%rdx\n"
        "2: mov $-1, %rax\n ret\n .cfi_endproc\n .size leaves, . - leaves\n");

static jmp_buf env;
__attribute__((noinline)) long leaps(long n) {
  if (n < 3) longjmp(env, 1);
  return n;
}

int main(void) {
  long sum = 0;
  for (long n = 0; n < 10; n++) sum += leaves(n);
  for (volatile long n = 0; n < 5; n++)
    if (setjmp(env) == 0) sum += leaps(n);
  printf("%ld\n", sum);
}
