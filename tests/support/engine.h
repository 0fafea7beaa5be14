#pragma once
// Engines that a build does not have are skipped; one that it has and cannot be had here is a failure.

#include "dvm/vm/engine.h"
#include "tests/support/skip.h"

namespace dvm::test {

#ifdef DVM_HAS_LLVM
inline constexpr bool kHasLlvm = true;
#else
inline constexpr bool kHasLlvm = false;
#endif

}  // namespace dvm::test

#define DVM_SKIP_WITHOUT(engine)                                                                                                 \
  do {                                                                                                                           \
    const std::string dvm_problem = (engine).problem();                                                                          \
    if (!dvm_problem.empty() && !dvm::test::kHasLlvm && (engine).name == "llvm") DVM_SKIP("built without LLVM: " + dvm_problem); \
    ASSERT_EQ(dvm_problem, "");                                                                                                  \
  } while (false)
