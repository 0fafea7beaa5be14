#pragma once

#include <string>

#include "dvm/common/result.h"

namespace dvm::cmd {

// The error that write_whole() would return for this path, before there is anything to write. Creates nothing.
Status check_writable(const std::string& path);

// Writes a file. A regular one that could not be written whole is removed.
Status write_whole(const std::string& text, const std::string& path);

}  // namespace dvm::cmd
