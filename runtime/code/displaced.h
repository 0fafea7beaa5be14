#pragma once
// Replacing the beginning of an instruction sequence by a jump. The jump takes five bytes; the instructions that it overwrites
// run from a copy instead (they are displaced), after which the copy jumps back behind them.
//
//   f:  push %rbp            f:  jmp stub            copy:  push %rbp
//       mov  %rsp,%rbp                                      mov  %rsp,%rbp
//       sub  $16,%rsp            (rest, unreachable)        sub  $16,%rsp
//       ...                      ...                        jmp  behind
//
// A window, the instructions that are displaced, can be replaced if
// - control enters it at its first instruction only: no branch leads behind that, not from the function, and not from elsewhere
//   (ModuleCode::find_entered);
// - no instruction in it leaves a return address behind (a call), or enters the kernel, since the thread would come back into it;
// - every instruction does the same from its copy: those that address memory relative to themselves, and branches, are rewritten.
//
// The window is read in a file that others may have written, so nothing is assumed of its bytes. Consumer context.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/code/function_code.h"

namespace dvm::runtime {

inline constexpr uint32_t kJumpBytes = 5, kShortJumpBytes = 2;

struct JumpWindow {
  uint32_t begin = 0;          // in the function
  uint32_t copied = 0;         // bytes of the displaced instructions
  uint32_t length = 0;         // of the window: padding may follow the instructions
  std::string_view refusal{};  // why it cannot be replaced; a literal, empty: it can
};

// The window that begins at `offset` of a function. `function` are all bytes of it, in `decoded` its instructions.
JumpWindow find_window(CodeBytes function, const FunctionCode& decoded, uint32_t offset);
// The window that ends with a `ret` or a direct jump, at the offset `exit`. It takes instructions before that as it needs them.
// Where they do not suffice it takes padding behind that, which nothing runs. `code` goes on behind the function as far as there
// is nothing else.
// `bytes` are those that will be replaced.
JumpWindow find_exit_window(CodeBytes code, const FunctionCode& decoded, uint32_t exit, uint32_t bytes = kJumpBytes);
// Where a window has fewer than five bytes, two are replaced by a short jump to a relay: five bytes of padding that nothing runs,
// which jump to the copy. Returns their places within reach of a short jump at `offset`, in the same code.
std::vector<uint32_t> find_relays(CodeBytes code, const FunctionCode& decoded, uint32_t offset);
// The bytes at the beginning that compilers put between functions: nops and breakpoints.
uint32_t count_padding(CodeBytes code);

// Maps an instruction of the window to its place in the copy.
struct MovedInstruction {
  uint32_t from = 0, to = 0;
};

struct DisplacedCode {
  std::vector<unsigned char> bytes;
  std::vector<MovedInstruction> moved;
  bool falls_through = true;   // control may reach its end
  std::string_view refusal{};  // why there is none; a literal
};

// Copies instructions from the address `from` so that they do the same at the address `to`.
DisplacedCode displace(CodeBytes window, uint64_t from, uint64_t to);

}  // namespace dvm::runtime
