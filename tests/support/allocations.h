#pragma once
// Counts what a thread allocates, for tests of code that must not: link allocations.cpp.

#include <cstdint>

namespace dvm::test {

// Calls of operator new by this thread so far.
uint64_t allocations() noexcept;

}  // namespace dvm::test
