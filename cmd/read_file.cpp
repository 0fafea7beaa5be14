// Covered by tests/runtime/scenarios/test_bad_input.py.

#include "cmd/read_file.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

namespace dvm::cmd {

Result<compiler::Source> read_file(const std::string& path) {
  std::ostringstream text;
  if (path == "-") {
    text << std::cin.rdbuf();
    return compiler::Source{"(standard input)", std::move(text).str(), false};
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (file) text << file.rdbuf();
  // A directory opens and then fails to read.
  if (!file || (text.tellp() <= 0 && errno != 0)) return Error{fmt::format("failed to open {}: {}", path, std::strerror(errno))};
  std::string script = std::move(text).str();
  if (script.starts_with("\xef\xbb\xbf")) script.erase(0, 3);  // the byte order mark of some editors
  return compiler::Source{path, std::move(script), false};
}

}  // namespace dvm::cmd
