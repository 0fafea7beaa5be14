#pragma once
// Common parts of the tests that feed junk to dvm. The damage done to files is deterministic: the same seed gives the same
// bytes on every machine.

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

namespace dvm::fuzz {

// A property that must hold for any input. Where it does not, GoogleTest and libFuzzer both see the process die.
inline void require(bool holds, std::string_view what) {
  if (holds) return;
  fmt::print(stderr, "does not hold: {}\n", what);
  std::abort();
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A file in memory with a name that can be opened: thousands of versions of it cost no disk.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {}
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return fmt::format("/proc/self/fd/{}", fd_); }
  bool write(std::string_view bytes) {
    return ftruncate(fd_, 0) == 0 && pwrite(fd_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
  }

 private:
  int fd_;
};

// One to eight changes between `from` and `to`: a byte set, a 32-bit field set to an extreme, bytes overwritten by others of the
// file, or the end cut off.
inline std::string damage(std::string bytes, std::mt19937& random, size_t from, size_t to) {
  auto below = [&](size_t limit) { return limit == 0 ? 0 : random() % limit; };
  static constexpr uint32_t kExtremes[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0, 0x10000};
  for (size_t changes = 1 + below(8); changes > 0 && bytes.size() > 8; changes--) {
    size_t end = std::min(to, bytes.size());
    size_t at = from + below(end > from ? end - from : 1);
    if (at + 8 > bytes.size()) at = bytes.size() - 8;
    switch (below(8)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
      case 2:
      case 3:
        std::memcpy(&bytes[at], &kExtremes[below(std::size(kExtremes))], 4);
        break;
      case 4:
        std::memmove(&bytes[at], &bytes[below(bytes.size() - 8)], 8);
        break;
      default:
        bytes[at] = static_cast<char>(random());
    }
  }
  return bytes;
}

}  // namespace dvm::fuzz
