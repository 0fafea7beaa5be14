#pragma once
// Finds main of a process by the symbols of its program or, without them, the function of the C library that calls main.

#include "dvm/common/result.h"
#include "runtime/process/start.h"

namespace dvm::runtime {

// The process must be at its entry point, with its libraries mapped.
Result<MainPlace> find_main(pid_t pid);
// In a process that has just executed its program. Nothing: it has no dynamic linker, or not glibc's. Others, such as musl's,
// run no constructor before the entry point.
std::optional<LoadedPlace> find_loaded(pid_t pid);

}  // namespace dvm::runtime
