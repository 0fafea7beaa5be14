#pragma once
// Starting a program so that it waits at its entry point.

#include <sys/types.h>

#include <string>
#include <vector>

#include "dvm/common/result.h"

namespace dvm::runtime {

using Environment = std::vector<std::string>;  // NAME=VALUE
Environment own_environment();

// Returns the pid of a child of this thread that is stopped under ptrace at the entry point of its program, its code unchanged.
// With an error no child is left.
Result<pid_t> start_stopped(const std::vector<std::string>& words, const Environment& environment);

}  // namespace dvm::runtime
