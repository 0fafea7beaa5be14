#pragma once
// Finds the instructions by which a function is left: `ret`, and jumps to another function that returns in its place.
//
// If all of them are known, a return probe can be placed on them. A uretprobe, in contrast, replaces the return address by an
// address of the kernel. It avoids a single-stepped `ret`, but code that reads the stack sees the wrong address. An exception
// that is thrown through such a frame ends the program, and a Go program that moves its stack crashes. The kernel tracks at most
// 64 of them in a thread. runtime/instrument/uprobe/return_plan.h decides between the two.

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/code/function_code.h"

namespace dvm::runtime {

struct Exits {
  std::vector<uint32_t> offsets;  // ascending
  bool is_complete = false;       // there are no other exits
  bool is_leaf = false;           // the function makes no calls and no system calls
  bool has_jump = false;          // an exit jumps to another function, so the return value is not known there
};

// The target of a jump out of a function's bytes: the beginning of another function, or a cold part of this function.
enum class Beyond : uint8_t { unknown, function, part };

// beyond: classifies the code at an offset from the beginning of the function.
Exits find_exits(CodeBytes code, const std::function<Beyond(int64_t)>& beyond);

// True if control that jumps to a part of a function leaves it for the function only. begin: of the function, from the beginning of
// the part, whose bytes are `part`. size: of the function.
bool only_leads_back(CodeBytes part, int64_t begin, uint64_t size);

// Properties of the first instructions of a function, on all paths from its entry.
struct Beginning {
  bool keeps_return_address = false;  // it reads or pops the return address, as setjmp() and vfork() do
  std::vector<int64_t> continues{};   // targets of jumps out of it, with the stack as at the entry
};
Beginning read_beginning(CodeBytes code);

// True if the first instruction jumps by a pointer that a register points to. Interpreters go on so with one of their own
// instructions; other functions call another one last.
bool jumps_by_register(CodeBytes code);

// True if the bytes are a stub that jumps through a single pointer, like the stubs of a procedure linkage table.
bool is_jump_by_pointer(CodeBytes code);

}  // namespace dvm::runtime
