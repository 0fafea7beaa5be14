// Functions whose first instruction is a step for a probe, called with arguments that show where they were read: each moves
// something else before an instruction that is cheap.
#include <stdio.h>

volatile long sink;

long site_mark(long a, long b, long c, long d, long e, long f, long g, long h);
long site_room(long a, long b, long c, long d, long e, long f, long g, long h);
long site_copy(long a, long b, long c, long d, long e, long f, long g, long h);
long site_loop(long a, long b, long c, long d, long e, long f, long g, long h);
long site_shared(long a, long b, long c, long d, long e, long f, long g, long h);
long site_sharing(long a, long b, long c, long d, long e, long f, long g, long h);
long site_changed(long a, long b, long c, long d, long e, long f, long g, long h);
long site_framed(long a, long b, long c, long d, long e, long f, long g, long h);
long locked_site(long a, long b, long c, long d, long e, long f, long g, long h);
#define FUNCTION(name, code) \
  asm(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" code "\n.size " #name ", . - " #name "\n")
FUNCTION(site_mark, "endbr64\n push %rbp\n mov %rsp, %rbp\n lea (%rdi,%rsi), %rax\n pop %rbp\n ret");
FUNCTION(site_room, "sub $24, %rsp\n mov %rdi, 8(%rsp)\n call 1f\n add $24, %rsp\n ret\n 1: mov %rdx, %rax\n ret");
FUNCTION(site_copy, "mov %rdi, %rax\n cmp %rsi, %rax\n je 1f\n mov %rsi, %rax\n 1: ret");
FUNCTION(site_loop, "mov %rdi, %rax\n and $7, %eax\n 1: test %rax, %rax\n je 2f\n dec %rax\n jmp 1b\n 2: ret");
FUNCTION(site_shared, "mov %rdi, %rax\n site_tail: cmp %rsi, %rax\n je 1f\n mov %rsi, %rax\n 1: ret");
FUNCTION(site_sharing, "mov %rdx, %rax\n jmp site_tail");
FUNCTION(site_changed, "mov %rdi, %rax\n xor %edi, %edi\n mov %rdx, %rsi\n push %rbx\n xor %ecx, %ecx\n pop %rbx\n ret");
FUNCTION(
    site_framed,
    "sub $8, %rsp\n xor %r8d, %r8d\n xor %r9d, %r9d\n mov %rdi, %rdx\n call 1f\n add $8, %rsp\n ret\n 1: mov %rdx, %rax\n ret");
FUNCTION(locked_site, "lock addl $0, (%rsp)\n mov %rsi, %rax\n ret");

int main(void) {
  for (long i = 0; i < 20; i++) {
    sink += site_mark(i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7);
    sink += site_room(i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7);
    sink += site_copy(i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7);
    sink += site_loop(i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7);
    sink += site_shared(i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7);
    sink += site_sharing(i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7);
    sink += site_changed(i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7);
    sink += site_framed(i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7);
    sink += locked_site(i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7);
  }
  return sink == 0;
}
