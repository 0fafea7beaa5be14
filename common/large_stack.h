#pragma once
// For recursion that is deeper than a caller's stack may be.

#include <functional>

namespace dvm {

// Runs f to its end on a stack of 256 MiB, of which only what is touched takes memory. What it throws is thrown here.
void run_on_large_stack(const std::function<void()>& f);

}  // namespace dvm
