#pragma once
// A file that appears complete or not at all: it is written under a temporary name, and renamed when it is finished. A device or
// a pipe is written directly. A symbolic link stays one, and a replaced file passes its mode on.

#include <string>

#include "dvm/common/result.h"

namespace dvm {

// "failed to write 'PATH': REASON"
Error cannot_write(const std::string& path, int error);

// fd: to be written and closed. temporary: what keep_output() or unlink() takes; empty: what is written stays.
struct OutputFile {
  int fd = -1;
  std::string temporary;
};

Result<OutputFile> open_output(const std::string& path);
// Once its fd is closed.
Status keep_output(const std::string& path, const std::string& temporary);

// All at once.
Status write_file(const std::string& path, const std::string& bytes);

}  // namespace dvm
