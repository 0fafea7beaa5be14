#pragma once
// Whether code reads the flags that it finds. Compilers expect none at the entry of a function, but functions written by hand
// may. Tested by tests/unit/code/flags_use_test.cpp.

#include "runtime/code/function_code.h"

namespace dvm::runtime {

// True if the code, run from its beginning, overwrites the carry, parity, adjust, zero, sign and overflow flags before anything
// can read them. False: that is not known.
bool overwrites_flags(CodeBytes code);

}  // namespace dvm::runtime
