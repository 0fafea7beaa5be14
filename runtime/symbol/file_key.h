#pragma once
// The identity of a file, which changes if the path leads to another file or the file is modified. A key for caches.

#include <sys/stat.h>

#include <cerrno>
#include <compare>
#include <cstdint>
#include <cstring>
#include <string>

#include "dvm/common/result.h"

namespace dvm::runtime {

struct FileKey {
  uint64_t device = 0, inode = 0, size = 0;
  int64_t modified = 0;  // ns
  auto operator<=>(const FileKey&) const = default;

  // True if it may be the same file seen through another mount, such as one of overlayfs, which numbers files itself.
  bool looks_like(const FileKey& other) const { return size == other.size && modified == other.modified; }

  // The key of a regular file. The error says why there is none.
  static Result<FileKey> of(const std::string& path) {
    struct stat st {};
    if (stat(path.c_str(), &st) != 0) return Error{std::strerror(errno)};
    if (!S_ISREG(st.st_mode)) return Error{"it is not a regular file"};
    return FileKey{st.st_dev, st.st_ino, static_cast<uint64_t>(st.st_size),
                   st.st_mtim.tv_sec * 1'000'000'000 + st.st_mtim.tv_nsec};
  }
};

}  // namespace dvm::runtime
