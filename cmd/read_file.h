#pragma once
// Scripts on disk.

#include <string>

#include "dvm/common/result.h"
#include "dvm/compiler/compile.h"

namespace dvm::cmd {

// The text of a script. "-" is standard input.
Result<compiler::Source> read_file(const std::string& path);

}  // namespace dvm::cmd
