#pragma once
// Writes a file that appears complete or not at all: it is written under a temporary name, and renamed when it is finished. A
// device or a pipe is written directly. A symbolic link stays in place. The new file gets the mode of the one that it replaces.

#include <string>

#include "dvm/common/result.h"

namespace dvm {

// "failed to write 'PATH': REASON"
Error cannot_write(const std::string& path, int error);

// fd: the caller writes and closes it. temporary: the argument of keep_output() or unlink(); empty: the file is written directly.
struct OutputFile {
  int fd = -1;
  std::string temporary;
};

Result<OutputFile> open_output(const std::string& path);
// Renames the temporary file, after its fd is closed.
Status keep_output(const std::string& path, const std::string& temporary);

// Opens, writes and keeps the file.
Status write_file(const std::string& path, const std::string& bytes);

}  // namespace dvm
