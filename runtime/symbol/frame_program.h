#pragma once
// The call frame instructions of one function, as .eh_frame has them.

#include <cstdint>
#include <span>

namespace dvm::runtime {

// Whether a walk by frame pointers misses who called the function: it makes a frame and does not set %rbp to it. A function
// without a frame calls nothing, and so is only ever the innermost. Instructions that cannot be read hide the caller.
bool hides_caller(std::span<const uint8_t> program);

}  // namespace dvm::runtime
