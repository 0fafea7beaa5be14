#pragma once
// Opens regular files by untrusted paths. Such a path may lead to a pipe or a device, may lead to another file a moment later,
// and the file may claim to be larger than the memory:
//
//   path -> O_PATH descriptor of its target (no side effects) -> is it a regular file? -> the same file, opened for reading
//
// Never blocks, and opens neither pipes nor devices.

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "dvm/common/result.h"

namespace dvm {

class RegularFile {
 public:
  enum class Links : uint8_t { follow, refuse };  // what to do if the last part of the path is a symbolic link

  static Result<RegularFile> open(const std::string& path, Links links = Links::follow);
  RegularFile() = default;
  RegularFile(RegularFile&& other) noexcept;
  RegularFile& operator=(RegularFile&& other) noexcept;
  ~RegularFile();

  int fd() const { return fd_; }
  int release();  // the caller closes it
  const struct stat& status() const { return status_; }
  uint64_t size() const { return static_cast<uint64_t>(status_.st_size); }
  uint64_t bytes_on_disk() const { return static_cast<uint64_t>(status_.st_blocks) * 512; }

 private:
  int fd_ = -1;
  struct stat status_ {};
};

// Fails if a file claims to hold more bytes, packed or in holes, than is plausible for its size on disk. The error names the
// limit.
Status check_cost(uint64_t bytes, uint64_t bytes_on_disk);
// Fails if `bytes` are more than half of this machine's memory. The error names the limit.
Status check_memory(uint64_t bytes);

}  // namespace dvm
