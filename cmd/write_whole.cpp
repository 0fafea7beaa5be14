#include "cmd/write_whole.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace dvm::cmd {

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
