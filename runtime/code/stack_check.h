#pragma once
// Finds the check at the beginning of Go functions that the stack has room.
//
//   f:  cmp  0x10(%r14), %rsp      for a larger frame, lea -N(%rsp), %r12, or mov and sub come first
//       jbe  more
//       push %rbp                  <- behind the check
//       ...
//   more: (saves arguments) call runtime.morestack (loads them again); jmp f
//
// If there is no room, the stack is moved and the function restarts, so a probe on its first instruction would fire twice for one
// call. A probe behind the check fires once, with the same stack pointer and arguments.

#include "runtime/code/function_code.h"

namespace dvm::runtime {

// Bytes from the beginning of a Go function to the instruction behind the check; 0 if there is no check. If `are_free`, the
// check may change all registers, since the arguments are on the stack; otherwise it may change only %r12 and %r13.
uint32_t behind_stack_check(CodeBytes code, bool are_free);

// True if the function does not write %r14, which holds the goroutine in code of Go's compiler. Wrappers of assembly functions
// write it, because assembly functions may use the register.
bool keeps_goroutine(CodeBytes code);

}  // namespace dvm::runtime
