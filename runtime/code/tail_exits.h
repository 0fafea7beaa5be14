#pragma once
// Follows tail jumps: jumps to another function, which returns in place of the first one.
//
//   lock:  test ...                 full:  ...
//          jne  full     jump              ret        other
//          ...
//          ret           own return
//
// At a tail jump the stack pointer leads to the return address, as at an entry. An instrument can note it there, and so recognise
// at the `ret` of `full` that `lock` returns.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/code/module_code.h"

namespace dvm::runtime {

struct TailExits {
  struct Jump {
    uint32_t offset = 0;  // in the function
    bool is_conditional = false;
  };
  // A `ret` of a function that is jumped to.
  struct Other {
    FunctionExtent function;
    uint32_t offset = 0;           // in that function
    uint32_t depth = 0;            // jumps on the longest path to it
    std::optional<uint32_t> by{};  // offset of the jump that leads to it; nothing: several do
  };
  std::vector<uint32_t> returns;  // offsets of its own `ret`s
  std::vector<Jump> jumps;        // to other functions
  std::vector<Other> others;
  std::string_view refusal{};  // why not all exits are known; a literal
};

// Knowledge about the code of a file, by file offset.
struct TailSource {
  std::function<CodeBytes(const FunctionExtent& function)> bytes;
  // The function, or part of a function, that begins at the offset.
  std::function<std::optional<FunctionExtent>(uint64_t offset)> function_at;
  // The function, or part of a function, that the offset lies in.
  std::function<std::optional<FunctionExtent>(uint64_t offset)> function_around;
  // True if the stack pointer leads to the return address before the instruction at the offset.
  std::function<bool(uint64_t offset)> is_as_entered;
};

TailExits find_tail_exits(const FunctionExtent& function, const TailSource& source);

}  // namespace dvm::runtime
