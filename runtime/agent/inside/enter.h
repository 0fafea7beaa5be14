#pragma once
// The assembly of fire.cpp: the entries of the code, and the way from a stub to agent_fire and back.

// CodeEntries, the first bytes of the code.
asm(".section .text.agent_entries, \"a\", @progbits\n.quad agent_enter, agent_aggregate, agent_key, agent_find, agent_time, "
    "agent_reserve, agent_steady, agent_leave, agent_returns, agent_forget, agent_frame, agent_frames_begin, agent_frames_end, "
    "agent_steady_begin, agent_steady_end, agent_steady_abort\n"
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
  .cfi_startproc
  lea -168(%rsp), %rsp
  .cfi_adjust_cfa_offset 168
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
  .cfi_offset %r15, -176
  .cfi_offset %r14, -168
  .cfi_offset %r13, -160
  .cfi_offset %r12, -152
  .cfi_offset %rbp, -144
  .cfi_offset %rbx, -136
  .cfi_offset %r10, -120
  mov %rax, 112(%rsp)
  movq $-1, 120(%rsp)
  movq $0x33, 136(%rsp)
  pushfq
  .cfi_adjust_cfa_offset 8
  popq 144(%rsp)
  .cfi_adjust_cfa_offset -8
  cld
  lea 312(%rsp), %rax
  mov %rax, 152(%rsp)
  movq $0x2b, 160(%rsp)
  mov %rsp, %rsi
  mov %rsp, %rbp
  .cfi_def_cfa_register %rbp
  and $-16, %rsp
  call agent_fire
  mov %rbp, %rsp
  .cfi_def_cfa_register %rsp
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
  .cfi_adjust_cfa_offset -168
  .cfi_restore %r15
  .cfi_restore %r14
  .cfi_restore %r13
  .cfi_restore %r12
  .cfi_restore %rbp
  .cfi_restore %rbx
  .cfi_restore %r10
  ret
  .cfi_endproc
  .text
)");
