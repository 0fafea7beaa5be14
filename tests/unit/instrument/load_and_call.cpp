#include "load_and_call.h"

asm(R"(
  .pushsection .text
  .globl load_and_call
load_and_call:
  push %rbx
  push %rbp
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsi, load_and_call_words(%rip)
  mov %rdi, load_and_call_code(%rip)
  .set at, 16
  .rept 16
  movq $at, -at(%rsp)
  .set at, at + 8
  .endr
  mov 120(%rsi), %rax
  lea -256(%rsp), %rsp
  push %rax
  popfq
  lea 256(%rsp), %rsp
  mov (%rsi), %r15
  mov 8(%rsi), %r14
  mov 16(%rsi), %r13
  mov 24(%rsi), %r12
  mov 32(%rsi), %rbp
  mov 40(%rsi), %rbx
  mov 48(%rsi), %r11
  mov 56(%rsi), %r10
  mov 64(%rsi), %r9
  mov 72(%rsi), %r8
  mov 80(%rsi), %rax
  mov 88(%rsi), %rcx
  mov 96(%rsi), %rdx
  mov 112(%rsi), %rdi
  mov 104(%rsi), %rsi
  call *load_and_call_code(%rip)
  lea -256(%rsp), %rsp
  push %rax
  mov load_and_call_words(%rip), %rax
  mov %r15, (%rax)
  mov %r14, 8(%rax)
  mov %r13, 16(%rax)
  mov %r12, 24(%rax)
  mov %rbp, 32(%rax)
  mov %rbx, 40(%rax)
  mov %r11, 48(%rax)
  mov %r10, 56(%rax)
  mov %r9, 64(%rax)
  mov %r8, 72(%rax)
  mov %rcx, 88(%rax)
  mov %rdx, 96(%rax)
  mov %rsi, 104(%rax)
  mov %rdi, 112(%rax)
  pop 80(%rax)
  pushfq
  pop 120(%rax)
  lea 256(%rsp), %rsp
  push $0x202
  popfq
  xor %ecx, %ecx
  .set at, 16
  .rept 16
  add -at(%rsp), %rcx
  .set at, at + 8
  .endr
  mov %rcx, 128(%rax)
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbp
  pop %rbx
  ret
  .popsection
  .pushsection .bss
  .balign 8
load_and_call_words: .zero 8
load_and_call_code: .zero 8
  .popsection
)");
