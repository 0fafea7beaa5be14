#pragma once
// Machine code for tests, as the assembler makes it: ASSEMBLED(name, "text") defines a function that returns its bytes, which
// begin at a multiple of 64.

#include "runtime/code/function_code.h"

#define ASSEMBLED(name, text)                                                                                       \
  extern "C" const unsigned char name##_begin[], name##_end[];                                                      \
  asm(".pushsection .rodata\n.balign 64\n.globl " #name "_begin, " #name "_end\n" #name "_begin:\n" text "\n" #name \
      "_end:\n.byte 0\n"                                                                                            \
      ".popsection");                                                                                               \
  static dvm::runtime::CodeBytes name() { return {name##_begin, static_cast<size_t>(name##_end - name##_begin)}; }
