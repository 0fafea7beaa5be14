#pragma once
// Finds landing pads: the addresses where an unwinder lets a function continue after an exception. Each function has a table of
// its calls and their landing pads (.gcc_except_table), which compilers of C++, Rust and others write.
//
//   .eh_frame_hdr  a row for each function -> its description in .eh_frame -> its table of calls
//
// Files are untrusted: all reads and the work are bounded. Consumer context.

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/code/function_code.h"

namespace dvm::runtime {

struct LandingPads {
  std::vector<uint64_t> addresses{};  // as the file has them, in no order
  bool is_complete = true;            // false: there are too many, or the tables have a form that is not known
};

// index: the address of .eh_frame_hdr; 0: there is none. at: the bytes from an address on, in one segment.
LandingPads find_landing_pads(uint64_t index, const std::function<CodeBytes(uint64_t address)>& at);

}  // namespace dvm::runtime
