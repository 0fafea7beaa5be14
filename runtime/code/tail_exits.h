#pragma once
// Follows the jumps by which a function is left to another one, which returns in its place (tail jumps).
//
//   lock:  test ...                 full:  ...
//          jne  full     jump              ret        other
//          ...
//          ret           own return
//
// At a tail jump the stack pointer leads to the return address, as at an entry. So one who notes it there can tell at `ret` of
// `full` whether it is lock that returns.

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
    uint32_t offset = 0;           // in that
    uint32_t depth = 0;            // jumps on the longest way there
    std::optional<uint32_t> by{};  // the offset of the jump that leads there; none: several do
  };
  std::vector<uint32_t> returns;  // its own, by offsets
  std::vector<Jump> jumps;        // to other functions
  std::vector<Other> others;
  std::string_view refusal{};  // why they are not all known; a literal
};

// What is known of the code of a file, by offsets in it.
struct TailSource {
  std::function<CodeBytes(const FunctionExtent& function)> bytes;
  // The function, or the part of one, that begins there.
  std::function<std::optional<FunctionExtent>(uint64_t offset)> function_at;
  // The stack pointer leads to the return address before the instruction there.
  std::function<bool(uint64_t offset)> is_as_entered;
};

TailExits find_tail_exits(const FunctionExtent& function, const TailSource& source);

}  // namespace dvm::runtime
