#pragma once
// Starting a program so that it waits at its entry point.

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/result.h"

namespace dvm::runtime {

// Returns the pid of a child of this thread that is stopped under ptrace at the entry point of its program, its code unchanged.
// With an error no child is left.
Result<pid_t> start_stopped(const std::vector<std::string>& words);

}  // namespace dvm::runtime
