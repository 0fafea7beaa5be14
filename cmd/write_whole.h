#pragma once

#include <string>

#include "dvm/common/result.h"

namespace dvm::cmd {

// Writes a file. A regular one that could not be written whole is removed.
Status write_whole(const std::string& text, const std::string& path);

}  // namespace dvm::cmd
