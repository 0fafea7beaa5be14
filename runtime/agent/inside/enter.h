#pragma once
// The assembly of fire.cpp, which includes it: the entries of the code, and how a stub gets to agent_fire and back.

// CodeEntries, the first bytes of the code.
asm(".section .text.agent_entries, \"a\", @progbits\n.quad agent_enter, agent_aggregate, agent_key, agent_find, agent_time, "
    "agent_reserve, agent_leave, agent_returns, agent_forget\n"
#define DVM_UPDATE(name) ".quad agent_update_" #name "\n"
#include "vm/dif/updates.def"
    ".text\n");

// Words of struct pt_regs are left on the stack; above them are the return address into the stub,
// its %rdi, and the 128 bytes. Flags are restored by std, by an addition that overflows if OF was set, and by sahf: popfq takes 4
// ns. The code between changes no other flag.
asm(R"(
  .section .text.agent_enter, "ax", @progbits
  .globl agent_enter
agent_enter:
  lea -168(%rsp), %rsp
  mov %r15, (%rsp)
  mov %r14, 8(%rsp)
  mov %r13, 16(%rsp)
  mov %r12, 24(%rsp)
  mov %rbp, 32(%rsp)
  mov %rbx, 40(%rsp)
  mov %r11, 48(%rsp)
  mov %r10, 56(%rsp)
  mov %r9, 64(%rsp)
  mov %r8, 72(%rsp)
  mov %rax, 80(%rsp)
  mov %rcx, 88(%rsp)
  mov %rdx, 96(%rsp)
  mov %rsi, 104(%rsp)
  mov 176(%rsp), %rax
  mov %rax, 112(%rsp)
  movq $-1, 120(%rsp)
  movq $0x33, 136(%rsp)
  pushfq
  popq 144(%rsp)
  cld
  lea 312(%rsp), %rax
  mov %rax, 152(%rsp)
  movq $0x2b, 160(%rsp)
  mov %rsp, %rsi
  mov %rsp, %rbp
  and $-16, %rsp
  call agent_fire
  mov %rbp, %rsp
  mov 144(%rsp), %eax
  test $0x400, %eax
  jz 1f
  std
1:
  mov %eax, %ecx
  shr $11, %ecx
  and $1, %ecx
  mov %al, %ah
  add $0x7f, %cl
  sahf
  mov 32(%rsp), %rbp
  mov 48(%rsp), %r11
  mov 56(%rsp), %r10
  mov 64(%rsp), %r9
  mov 72(%rsp), %r8
  mov 80(%rsp), %rax
  mov 88(%rsp), %rcx
  mov 96(%rsp), %rdx
  mov 104(%rsp), %rsi
  lea 168(%rsp), %rsp
  ret
  .text
)");
