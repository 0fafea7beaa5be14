// operator new and delete on malloc; malloc, calloc and realloc on those of glibc, with a counter.

#include "tests/support/allocations.h"

#include <cstdlib>
#include <new>

namespace {

thread_local uint64_t count = 0;

}  // namespace

uint64_t dvm::test::allocations() noexcept { return count; }

#if defined(__SANITIZE_ADDRESS__)
#define DVM_OWN_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DVM_OWN_MALLOC 0
#endif
#endif
#ifndef DVM_OWN_MALLOC
#define DVM_OWN_MALLOC 1
#endif

#if DVM_OWN_MALLOC
#pragma GCC visibility push(default)  // to libraries, whose allocations count, too
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);

void* malloc(std::size_t size) { return count++, __libc_malloc(size); }
void* calloc(std::size_t number, std::size_t size) { return count++, __libc_calloc(number, size); }
void* realloc(void* old, std::size_t size) { return count++, __libc_realloc(old, size); }
}
#pragma GCC visibility pop
#endif

void* operator new(std::size_t size) {
  count += DVM_OWN_MALLOC == 0;
  if (void* made = std::malloc(size == 0 ? 1 : size)) return made;
  throw std::bad_alloc();
}
// Sanitizers have their own of this, which does not call the one above.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  count += DVM_OWN_MALLOC == 0;
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* made) noexcept { std::free(made); }
void operator delete(void* made, std::size_t) noexcept { std::free(made); }
