#pragma once
// Finding profiles: a file, or the name of one that comes with dvm.

#include <string>

#include "common/result.h"
#include "dvm/vm/profile.h"

namespace dvm::cmd {

// "pentium4-1700", or a path. Warnings about the file go to standard error.
Result<vm::Profile> read_profile(const std::string& name);

}  // namespace dvm::cmd
