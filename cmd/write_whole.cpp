#include "cmd/write_whole.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace dvm::cmd {

Status check_writable(const std::string& path) {
  const auto failed = [&](int reason) { return Error{fmt::format("failed to open {}: {}", path, std::strerror(reason))}; };
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return failed(EISDIR);
    return access(path.c_str(), W_OK) == 0 ? Status() : failed(errno);
  }
  if (errno != ENOENT) return failed(errno);
  const std::string folder = path.substr(0, path.rfind('/') + 1);  // with its slash; empty: the current one
  return access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0 ? Status() : failed(errno);
}

Status write_whole(const std::string& text, const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (!file) return Error{fmt::format("failed to open {}: {}", path, std::strerror(errno))};
  struct stat status {};
  const bool is_regular = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int reason = errno;
  if (std::fclose(file) == 0 && written) return {};
  const int last = written ? errno : reason;
  if (is_regular) std::remove(path.c_str());
  return Error{fmt::format("could not write {}: {}", path, std::strerror(last))};
}

}  // namespace dvm::cmd
