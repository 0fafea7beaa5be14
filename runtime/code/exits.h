#pragma once
// Finds how a function is left: by `ret`, or by a jump to another function that returns in its place.
//
// If all such instructions are known, a return probe can be placed on them. A uretprobe instead replaces the return address by
// an address of the kernel. It needs no single-stepped `ret`, but code that reads the stack meanwhile sees the wrong address.
// An exception that is thrown through such a frame ends the program, and a Go program that moves its stack crashes. The kernel
// follows at most 64 of them in a thread. runtime/instrument/uprobe/return_plan.h decides between the two.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/code/function_code.h"

namespace dvm::runtime {

struct Exits {
  std::vector<uint32_t> offsets;  // ascending
  bool is_complete = false;       // there are no others
  bool is_leaf = false;           // it calls no function and makes no system calls
  bool has_jump = false;          // one of them jumps to another function, so the value is not there yet
};

// The code outside a function's bytes: the beginning of another function, or a part of this one that was moved away and never
// leaves it.
enum class Beyond : uint8_t { unknown, function, part };

// beyond: what lies so many bytes from the beginning of the function.
Exits find_exits(CodeBytes code, const std::function<Beyond(int64_t)>& beyond);

// How a function begins, up to its first branch.
struct Beginning {
  bool keeps_return_address = false;   // it reads the word or takes it off the stack, as setjmp() and vfork() do
  std::optional<int64_t> continues{};  // it ends with a jump there, the stack being as it was
};
Beginning read_beginning(CodeBytes code);

// True if the bytes are a stub that jumps through a single pointer, like the stubs of a procedure linkage table.
bool is_jump_by_pointer(CodeBytes code);

}  // namespace dvm::runtime
