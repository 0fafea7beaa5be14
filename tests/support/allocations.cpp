// operator new and delete on malloc, with a counter.

#include "tests/support/allocations.h"

#include <cstdlib>
#include <new>

namespace {

thread_local uint64_t count = 0;

}  // namespace

uint64_t dvm::test::allocations() noexcept { return count; }

void* operator new(std::size_t size) {
  count++;
  if (void* made = std::malloc(size == 0 ? 1 : size)) return made;
  throw std::bad_alloc();
}
void operator delete(void* made) noexcept { std::free(made); }
void operator delete(void* made, std::size_t) noexcept { std::free(made); }
