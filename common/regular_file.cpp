// Covered by tests/unit/instrument/regular_file_test.cpp.

#include "common/regular_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace dvm {
namespace {

// Debug information is seldom packed by more than 5 to 1; a hostile file reaches 1000 to 1, a sparse one any figure.
constexpr uint64_t kMostTimes = 16;
constexpr uint64_t kAlwaysAllowed = uint64_t{64} << 20;

uint64_t machine_memory() {
  return static_cast<uint64_t>(std::max(sysconf(_SC_PHYS_PAGES), 1L)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

Result<RegularFile> RegularFile::open(const std::string& path, Links links) {
  RegularFile found, file;
  found.fd_ = ::open(path.c_str(), O_PATH | O_CLOEXEC | (links == Links::refuse ? O_NOFOLLOW : 0));
  if (found.fd_ < 0 || fstat(found.fd_, &found.status_) != 0) return Error{std::strerror(errno)};
  if (!S_ISREG(found.status_.st_mode)) return Error{"it is not a regular file"};
  file.fd_ = ::open(fmt::format("/proc/self/fd/{}", found.fd_).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.fd_ < 0 || fstat(file.fd_, &file.status_) != 0) return Error{std::strerror(errno)};
  return file;
}

RegularFile::RegularFile(RegularFile&& other) noexcept { *this = std::move(other); }

RegularFile& RegularFile::operator=(RegularFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(status_, other.status_);
  return *this;
}

RegularFile::~RegularFile() {
  if (fd_ >= 0) close(fd_);
}

int RegularFile::release() { return std::exchange(fd_, -1); }

Status check_cost(uint64_t bytes, uint64_t bytes_on_disk) {
  const uint64_t limit = kAlwaysAllowed + kMostTimes * std::min(bytes_on_disk, UINT64_MAX / kMostTimes - kAlwaysAllowed);
  if (bytes > limit)
    return Error{fmt::format("it claims to hold {} bytes, with {} on disk: more than {} are not read (64 MiB and {} times that)",
                             bytes, bytes_on_disk, limit, kMostTimes)};
  return {};
}

Status check_memory(uint64_t bytes) {
  const uint64_t limit = machine_memory() / 2;
  if (bytes <= limit) return {};
  return Error{fmt::format("it would take {} bytes of memory: more than {}, half of this machine's", bytes, limit)};
}

}  // namespace dvm
