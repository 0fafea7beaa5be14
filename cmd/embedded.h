#pragma once
// Files that the program carries in itself, so that a copy of it works alone. The build makes their text from the source tree
// (cmake/embed.cmake).

#include <span>
#include <string_view>

namespace dvm::cmd {

struct EmbeddedFile {
  std::string_view folder;  // "dlib", "profiles", "tools" or "page"
  std::string_view name;
  std::string_view text;
};

// All of them, by name in each folder.
std::span<const EmbeddedFile> embedded_files();

}  // namespace dvm::cmd
