#pragma once
// A file descriptor that is closed with its owner.

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace dvm {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) noexcept : fd_(fd) {}  // below 0: the call that should have opened it has failed
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// What a system call has opened, and its errno; 0: it has not failed.
struct Opened {
  explicit Opened(long result) : file(static_cast<int>(result)), error(result < 0 ? errno : 0) {}

  FileDescriptor file;
  int error;
};

}  // namespace dvm
