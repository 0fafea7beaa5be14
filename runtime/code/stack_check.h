#pragma once
// The check at the beginning of Go functions that the stack has room.
//
//   f:  cmp  0x10(%r14), %rsp      for a larger frame, lea -N(%rsp), %r12, or mov and sub come first
//       jbe  more
//       push %rbp                  <- behind the check
//       ...
//   more: (saves arguments) call runtime.morestack (loads them again); jmp f
//
// If there is no room, the stack is moved and the function starts again, so a probe on its first instruction would fire twice
// for one call. Behind the check it fires once, with the same stack pointer and arguments.

#include "runtime/code/function_code.h"

namespace dvm::runtime {

// Bytes from the beginning of a Go function to the instruction behind the check; 0 if there is no check. If `are_free`, the
// check may change all registers, since the arguments are on the stack; otherwise it may change only %r12 and %r13.
uint32_t behind_stack_check(CodeBytes code, bool are_free);

// True if nothing in a function writes %r14, which has the goroutine in code that Go's compiler makes. Wrappers of assembly
// functions write it, because those may use the register.
bool keeps_goroutine(CodeBytes code);

}  // namespace dvm::runtime
