// Covered by tests/unit/instrument/open_files_test.cpp and tests/runtime/syscall/tst.fds.d.
#include "runtime/process/open_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace dvm::runtime {
namespace {

constexpr int64_t kUnknown = -1;
constexpr unsigned kPerFile = 8;  // numbers and texts
enum Number : unsigned { kPosition, kFlags };
enum Text : unsigned { kPath, kFileSystem, kMountPoint };

int32_t descriptor_of(uint64_t index) { return static_cast<int32_t>(static_cast<int64_t>(index) / kPerFile); }

// The start of a file of /proc/PID; empty: it cannot be read.
std::string_view read_file(const char* path, char* to, size_t size) noexcept {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  size_t done = 0;
  ssize_t count = 0;
  while (done < size && (count = read(file, to + done, size - done)) > 0) done += static_cast<size_t>(count);
  close(file);
  return {to, done};
}

// The number behind "NAME:\t" in fdinfo, which is octal for the flags.
int64_t field(std::string_view text, std::string_view name, int base) noexcept {
  const size_t at = text.find(name);
  if (at == std::string_view::npos) return kUnknown;
  char digits[32] = {};
  text.substr(at + name.size()).copy(digits, sizeof digits - 1);
  return std::strtoll(digits, nullptr, base);
}

int64_t info(int32_t pid, int32_t descriptor, std::string_view name, int base) noexcept {
  char path[64], text[1024];
  std::snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", pid, descriptor);
  return descriptor < 0 ? kUnknown : field(read_file(path, text, sizeof text), name, base);
}

std::string_view word(std::string_view& line) noexcept {
  const std::string_view first = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), first.size() + 1));
  return first;
}

// "36 35 98:0 /root /mount/point options ... - type source": the point, or the type.
std::string_view part_of_mount(std::string_view line, bool wants_type) noexcept {
  for (int skipped = 0; skipped < 4; skipped++) word(line);
  if (!wants_type) return word(line);
  const size_t separator = line.find(" - ");
  if (separator == std::string_view::npos) return {};
  line.remove_prefix(separator + 3);
  return word(line);
}

// Files that no mount of the process leads to: sockets, pipes and kin.
std::string_view special_file_system(std::string_view path) noexcept {
  if (path.starts_with("socket:")) return "sockfs";
  if (path.starts_with("pipe:")) return "pipefs";
  return path.starts_with("anon_inode:") ? "anon_inodefs" : "<unknown>";
}

}  // namespace

int64_t OpenFiles::number(int32_t pid, uint64_t index) noexcept {
  switch (index % kPerFile) {
    case kPosition:
      return info(pid, descriptor_of(index), "pos:\t", 10);
    case kFlags:
      return info(pid, descriptor_of(index), "flags:\t", 8);
    default:
      return kUnknown;
  }
}

std::string_view OpenFiles::text(int32_t pid, uint64_t index) noexcept {
  char path[64];
  const int32_t descriptor = descriptor_of(index);
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, descriptor);
  const ssize_t length = descriptor < 0 ? -1 : readlink(path, text_.data(), text_.size());
  const std::string_view target(text_.data(), length < 0 ? 0 : static_cast<size_t>(length));
  if (target.empty() || index % kPerFile == kPath) return target;
  const bool wants_type = index % kPerFile == kFileSystem;
  const std::string_view otherwise = wants_type ? special_file_system(target) : "<unknown>";
  return mount(pid, info(pid, descriptor, "mnt_id:\t", 10), wants_type, otherwise);
}

std::string_view OpenFiles::mount(int32_t pid, int64_t id, bool wants_type, std::string_view otherwise) noexcept {
  char path[64], start[32];
  std::snprintf(path, sizeof path, "/proc/%d/mountinfo", pid);
  std::string_view lines = read_file(path, mounts_.data(), mounts_.size());
  const auto size = static_cast<size_t>(std::snprintf(start, sizeof start, "%lld ", static_cast<long long>(id)));
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    if (line.starts_with(std::string_view(start, size))) return part_of_mount(line, wants_type);
  }
  return otherwise;
}

}  // namespace dvm::runtime
