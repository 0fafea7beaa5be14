#pragma once
// The check at the beginning of Go's functions whether the stack has room.
//
//   f:  cmp  0x10(%r14), %rsp      a larger frame: lea -N(%rsp), %r12, or mov and sub, first
//       jbe  more
//       push %rbp                  <- behind the check
//       ...
//   more: (saves arguments) call runtime.morestack (loads them again); jmp f
//
// Where there is no room the stack is moved and the function begins anew, so a probe on its first instruction would fire twice
// for one call. Behind the check it fires once; the stack pointer and the arguments are what they were.

#include "runtime/code/function_code.h"

namespace dvm::runtime {

// Bytes from the beginning of a Go function to the instruction behind the check; 0: it has none. are_free: all registers may
// change, for the arguments are on the stack; otherwise only %r12 and %r13 may.
uint32_t behind_stack_check(CodeBytes code, bool are_free);

}  // namespace dvm::runtime
