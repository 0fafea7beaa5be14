#pragma once
// Tells if code reads the flags that it finds. Compilers expect none at the entry of a function, but functions written by hand
// may. Tested by tests/unit/code/flags_use_test.cpp.

#include <cstddef>

#include "runtime/code/function_code.h"

namespace dvm::runtime {

// True if the code of a function, run from an offset on, overwrites the carry, parity, adjust, zero, sign and overflow flags
// before anything can read them. Jumps within the function are followed. False: that is not known.
bool overwrites_flags(CodeBytes function, size_t at);

}  // namespace dvm::runtime
