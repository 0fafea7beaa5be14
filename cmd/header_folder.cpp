// Covered by tests/runtime/scenarios/test_preprocessor.py.
#include "cmd/header_folder.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "common/output_file.h"

namespace dvm::cmd {
namespace {

// Without __GNUC__, glibc's sys/cdefs.h makes __attribute__ a macro for nothing, and packed structures lose their layout.
constexpr std::string_view kWrapper = "#pragma GCC system_header\n#include_next <sys/cdefs.h>\n#undef __attribute__\n";
constexpr std::string_view kName = "dvm-include-";
constexpr int kMostTries = 50;  // until no other run takes the new folder for an abandoned one before it is locked

// A descriptor of the folder, with its lock; -1: another run has it, or it is not a folder of this user.
int lock(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat info = {};
  if (fd < 0) return -1;
  if (fstat(fd, &info) == 0 && info.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
  close(fd);
  return -1;
}

// Only what make() has put there.
void remove_folder(const std::string& path, int lock) {
  unlinkat(lock, "sys/cdefs.h", 0);
  unlinkat(lock, "sys", AT_REMOVEDIR);
  rmdir(path.c_str());
  close(lock);
}

void remove_abandoned(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (!entry.path().filename().string().starts_with(kName)) continue;
    if (const int fd = lock(entry.path()); fd >= 0) remove_folder(entry.path(), fd);
  }
}

Error failed(int error) { return Error{fmt::format("could not make a temporary folder: {}", std::strerror(error))}; }

}  // namespace

Result<HeaderFolder> HeaderFolder::make() {
  std::error_code error;
  const std::string parent = std::filesystem::temp_directory_path(error).string();
  if (error) return failed(error.value());
  remove_abandoned(parent);
  for (int tries = 0; tries < kMostTries; tries++) {
    std::string path = fmt::format("{}/{}XXXXXX", parent, kName);
    if (!mkdtemp(path.data())) return failed(errno);
    HeaderFolder folder(path, lock(path));
    if (folder.lock_ < 0 || mkdirat(folder.lock_, "sys", 0700) != 0) continue;
    if (Status written = write_file(path + "/sys/cdefs.h", std::string(kWrapper)); !written) return written.error();
    return folder;
  }
  return failed(errno);
}

HeaderFolder::HeaderFolder(HeaderFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}

HeaderFolder::~HeaderFolder() {
  if (lock_ >= 0) remove_folder(path_, lock_);
}

}  // namespace dvm::cmd
