#pragma once
// Counts what a thread allocates, for tests of code that must not: link allocations.cpp.

#include <cstdint>

namespace dvm::test {

// Calls of malloc, calloc, realloc and operator new by this thread so far; with ASan, which has its own malloc, of operator new
// only.
uint64_t allocations() noexcept;

}  // namespace dvm::test
