#pragma once
// Interprets the call frame instructions of a function, from .eh_frame.

#include <cstdint>
#include <span>

namespace dvm::runtime {

// True if a walk by frame pointers misses the caller of the function: it makes a frame and does not set %rbp to it. A function
// without a frame makes no calls, so it can only be the innermost. Instructions that cannot be decoded count as hiding the
// caller.
bool hides_caller(std::span<const uint8_t> program);

}  // namespace dvm::runtime
