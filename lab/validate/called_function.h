#pragma once
// A function to measure what a tracer adds to a call: it takes as long with a jump at its entry or its return as without. It
// counts the letters of its argument, in registers only, and begins at 4096 * n + 64 + pad. In C and in C++.

// The text of its assembly. `name` is a string, `pad` another one with a number of bytes below 3968 in it.
// clang-format off
#define DVM_CALLED_FUNCTION(name, pad)                                \
  ".p2align 12\n"                                                     \
  ".skip 64 + " pad ", 0x90\n"                                        \
  ".globl " name "\n.type " name ", @function\n"                      \
  name ": push %rbp\nmov %rsp, %rbp\n"                                \
  "xor %eax, %eax\n"                                                  \
  "1: cmpb $0, (%rdi,%rax)\nje " name "_return\ninc %rax\njmp 1b\n"   \
  name "_return: pop %rbp\nret\n"                                     \
  ".size " name ", . - " name "\n"                                    \
  ".skip 16, 0xcc\n"                                                  \
  ".p2align 12\n"
// clang-format on
