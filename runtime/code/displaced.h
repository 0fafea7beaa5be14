#pragma once
// Replaces instructions by a jump. The jump takes five bytes. The instructions that it overwrites are displaced: they run from a
// copy, which then jumps back behind them.
//
//   f:  push %rbp            f:  jmp stub            copy:  push %rbp
//       mov  %rsp,%rbp                                      mov  %rsp,%rbp
//       sub  $16,%rsp            (rest, unreachable)        sub  $16,%rsp
//       ...                      ...                        jmp  behind
//
// A window is the sequence of instructions that are displaced. It can be replaced if
// - control enters it only at its first instruction: no branch leads to a later one, neither from the function nor from elsewhere
//   (ModuleCode::find_entered), and no jump by a table of the function (jump_tables.h);
// - no instruction in it is a call or enters the kernel, because the thread would return to the overwritten code;
// - every instruction works the same in its copy: branches and instructions with relative addresses are rewritten.
//
// The window is read from an untrusted file. Consumer context.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/code/function_code.h"

namespace dvm::runtime {

inline constexpr uint32_t kJumpBytes = 5, kShortJumpBytes = 2;

struct JumpWindow {
  uint32_t begin = 0;          // offset in the function
  uint32_t copied = 0;         // bytes of the displaced instructions
  uint32_t length = 0;         // bytes of the window, which may include padding behind the instructions
  std::string_view refusal{};  // why it cannot be replaced; a literal, empty: it can
};

// The window that begins at `offset` of a function. function: all its bytes. decoded: its instructions.
JumpWindow find_window(CodeBytes function, const FunctionCode& decoded, uint32_t offset);
// The window that ends with the `ret` or direct jump at offset `exit`. It includes as many instructions before that as needed. If
// they are not enough, it includes padding behind it, which is never executed.
//
// code: the function and the padding that follows it. bytes: the number of bytes to replace.
JumpWindow find_exit_window(CodeBytes code, const FunctionCode& decoded, uint32_t exit, uint32_t bytes = kJumpBytes);
// If a window has fewer than five bytes, two of them are replaced by a short jump to a relay: a jump to the copy, in five bytes
// of padding that is never executed. Returns the offsets of possible relays within reach of a short jump at `offset`.
std::vector<uint32_t> find_relays(CodeBytes code, const FunctionCode& decoded, uint32_t offset);
// The number of padding bytes (nops and breakpoints) at the beginning of the code.
uint32_t count_padding(CodeBytes code);

// Maps an instruction of the window to its place in the copy.
struct MovedInstruction {
  uint32_t from = 0, to = 0;
};

struct DisplacedCode {
  std::vector<unsigned char> bytes;
  std::vector<MovedInstruction> moved;
  bool falls_through = true;   // control may reach the end of the copy
  std::string_view refusal{};  // why the instructions cannot be displaced; a literal, empty: they can
};

// Copies instructions from the address `from` so that they do the same at the address `to`.
DisplacedCode displace(CodeBytes window, uint64_t from, uint64_t to);

}  // namespace dvm::runtime
