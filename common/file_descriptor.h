#pragma once
// A file descriptor that is closed with its owner.

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace dvm {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) noexcept : fd_(fd) {}  // negative: there is no file, because opening it failed
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

// The result of a system call that opens a file: the file and errno; 0: it succeeded.
struct Opened {
  explicit Opened(long result) : file(static_cast<int>(result)), error(result < 0 ? errno : 0) {}

  FileDescriptor file;
  int error;
};

}  // namespace dvm
