#pragma once
// Finds out if code reads the flags that earlier code set. Compilers pass no flags to functions, but hand-written functions may
// use them.

#include <cstddef>

#include "runtime/code/function_code.h"

namespace dvm::runtime {

// True if the code of a function, run from an offset on, overwrites the carry, parity, adjust, zero, sign and overflow flags
// before anything reads them. Jumps within the function are followed. False: not known.
bool overwrites_flags(CodeBytes function, size_t at);

}  // namespace dvm::runtime
