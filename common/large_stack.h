#pragma once
// For recursion that may be too deep for the stack of the caller.

#include <functional>

namespace dvm {

// Runs f to its end on a stack of 256 MiB. Only pages that are touched take memory. Exceptions of f are thrown to the caller.
void run_on_large_stack(const std::function<void()>& f);

}  // namespace dvm
