#pragma once
// Where main of a process is, by the symbols of its program, or where the C library is about to call it.

#include "dvm/common/result.h"
#include "runtime/process/start.h"

namespace dvm::runtime {

// Of a process at its entry point, which has mapped its libraries.
Result<MainPlace> find_main(pid_t pid);

}  // namespace dvm::runtime
