// Covered by tests/unit/common/output_file_test.cpp.

#include "common/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace dvm {
namespace {

// Where the file is to be in the end: a symbolic link is followed, as opening it would.
std::string final_path(const std::string& path) {
  char real[PATH_MAX];
  return realpath(path.c_str(), real) != nullptr ? real : path;
}

mode_t umask_now() {
  mode_t mask = umask(0);
  umask(mask);
  return mask;
}

// 0, or errno.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

Error cannot_write(const std::string& path, int error) {
  return Error{fmt::format("failed to write '{}': {}", path, std::strerror(error))};
}

Result<OutputFile> open_output(const std::string& path) {
  if (path.empty()) return cannot_write(path, ENOENT);
  struct stat st {};
  bool exists = stat(path.c_str(), &st) == 0;
  if (exists && S_ISDIR(st.st_mode)) return cannot_write(path, EISDIR);
  if (exists && !S_ISREG(st.st_mode)) {
    int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return fd < 0 ? Result<OutputFile>(cannot_write(path, errno)) : OutputFile{fd, ""};
  }
  // Replacing a file needs no right to write it; but who protected it meant that.
  if (exists && access(path.c_str(), W_OK) != 0) return cannot_write(path, errno);
  std::string temporary = final_path(path) + ".XXXXXX";
  int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return cannot_write(path, errno);
  fchmod(fd, exists ? st.st_mode & 07777 : 0666 & ~umask_now());
  return OutputFile{fd, temporary};
}

Status keep_output(const std::string& path, const std::string& temporary) {
  if (temporary.empty() || rename(temporary.c_str(), final_path(path).c_str()) == 0) return {};
  const int error = errno;
  unlink(temporary.c_str());
  return cannot_write(path, error);
}

Status write_file(const std::string& path, const std::string& bytes) {
  const Result<OutputFile> output = open_output(path);
  if (!output) return output.error();
  int error = write_all(output->fd, bytes);
  if (close(output->fd) != 0 && error == 0) error = errno;
  if (error == 0) return keep_output(path, output->temporary);
  if (!output->temporary.empty()) unlink(output->temporary.c_str());
  return cannot_write(path, error);
}

}  // namespace dvm
