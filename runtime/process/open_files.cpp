// Covered by tests/unit/instrument/open_files_test.cpp and tests/runtime/syscall/tst.fds.d.
#include "runtime/process/open_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace dvm::runtime {
namespace {

constexpr int64_t kNoNumber = -1;
constexpr unsigned kPerFile = 8;  // numbers and texts
enum FileNumber : unsigned { kPosition, kFlags };
enum FileText : unsigned { kPath, kFileSystem, kMountPoint, kDirectory };
constexpr std::string_view kDeleted = " (deleted)";

// -1 for the eight before 0, too.
int32_t descriptor_of(uint64_t index) { return static_cast<int32_t>(static_cast<int64_t>(index - index % kPerFile) / kPerFile); }

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
  if (at == std::string_view::npos) return kNoNumber;
  char digits[32] = {};
  text.substr(at + name.size()).copy(digits, sizeof digits - 1);
  return std::strtoll(digits, nullptr, base);
}

int64_t info(int32_t pid, int32_t descriptor, std::string_view name, int base) noexcept {
  char path[64], text[1024];
  std::snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", pid, descriptor);
  return descriptor < 0 ? kNoNumber : field(read_file(path, text, sizeof text), name, base);
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

// Files that no mount of the process leads to: sockets, pipes and the like.
std::string_view special_file_system(std::string_view path) noexcept {
  if (path.starts_with("socket:")) return "sockfs";
  if (path.starts_with("pipe:")) return "pipefs";
  return path.starts_with("anon_inode:") ? "anon_inodefs" : "<unknown>";
}

std::string_view directory_of(std::string_view path) noexcept {
  const size_t end = path.rfind('/');
  if (path.starts_with('<') || path.empty()) return path;
  return end == std::string_view::npos ? "." : path.substr(0, std::max<size_t>(end, 1));
}

std::string_view until_nul(std::string_view text) noexcept { return text.substr(0, text.find('\0')); }

}  // namespace

// What was captured may come from a recording: it is checked, and copied.
bool OpenFiles::find_captured(uint64_t descriptor) noexcept {
  constexpr size_t kLeast = offsetof(CapturedFile, names);
  for (const vm::CapturedMemory& one : memory_) {
    if (!one.is_file || one.address != descriptor || one.bytes.size() < kLeast) continue;
    std::memcpy(&file_, one.bytes.data(), std::min(one.bytes.size(), sizeof file_));
    file_.names_size = std::min<uint64_t>(file_.names_size, std::min(one.bytes.size(), sizeof file_) - kLeast);
    file_.below_mount = std::min(file_.below_mount, file_.names_size);
    return true;
  }
  return false;
}

bool OpenFiles::is_known(int32_t descriptor) noexcept {
  is_captured_ = find_captured(static_cast<uint32_t>(descriptor));
  const bool is_known = is_captured_ ? file_.end != CapturedFile::changed : waits_;
  unknown_ += !is_known;
  return is_known;
}

std::string_view OpenFiles::working_directory() noexcept {
  const bool is_whole = find_captured(vm::CapturedMemory::kWorkingDirectory) && file_.end == CapturedFile::whole;
  if (is_whole || !waits_) return is_whole ? join(names(), file_.hashed == 0) : std::string_view();
  return read_link("cwd");
}

int64_t OpenFiles::captured_flags(int32_t descriptor) const noexcept {
  const bool closes = (file_.closes_on_exec >> (descriptor % 64) & 1) != 0;
  return static_cast<int64_t>((file_.flags & ~uint64_t{O_CLOEXEC}) | (closes ? uint64_t{O_CLOEXEC} : 0));
}

int64_t OpenFiles::number(uint64_t index) noexcept {
  const int32_t descriptor = descriptor_of(index);
  const bool is_position = index % kPerFile == kPosition;
  if (descriptor < 0 || index % kPerFile > kFlags) return 0;
  if (!is_known(descriptor)) return kNoNumber;
  if (is_captured_ && file_.end == CapturedFile::not_open) return 0;
  if (is_captured_) return is_position ? static_cast<int64_t>(file_.position) : captured_flags(descriptor);
  return std::max<int64_t>(is_position ? info(pid_, descriptor, "pos:\t", 10) : info(pid_, descriptor, "flags:\t", 8), 0);
}

std::string_view OpenFiles::text(uint64_t index) noexcept {
  const int32_t descriptor = descriptor_of(index);
  const auto which = static_cast<unsigned>(index % kPerFile);
  if (descriptor < 0) return {};
  if (which == kDirectory) return directory_of(text(index - kDirectory + kPath));
  if (!is_known(descriptor)) return kUnknown;
  return is_captured_ ? captured_text(descriptor, which) : text_of_waiting(descriptor, which);
}

std::string_view OpenFiles::captured_text(int32_t descriptor, unsigned which) noexcept {
  if (file_.end == CapturedFile::not_open) return {};
  if (which == kPath) return captured_path(descriptor);
  if (which == kFileSystem) return until_nul({file_.type.data(), file_.type.size()});
  return file_.end == CapturedFile::whole ? join(names().substr(file_.below_mount), false) : kUnknown;
}

std::string_view OpenFiles::captured_path(int32_t descriptor) noexcept {
  if (file_.end == CapturedFile::whole) return join(names(), file_.hashed == 0);
  if (const std::string_view special = special_path(); !special.empty()) return special;
  const std::string_view now = has_process_ ? link(descriptor) : std::string_view();
  if (is_still(descriptor, now)) return now;
  unknown_++;
  return kUnknown;
}

// Names files that lie in no directory as /proc does. Those of memfd_create() have one name, and are their own parent.
std::string_view OpenFiles::special_path() noexcept {
  const std::string_view type = until_nul({file_.type.data(), file_.type.size()});
  const auto number = static_cast<unsigned long long>(file_.inode);
  int size = 0;
  if (type == "pipefs" || type == "sockfs")
    size = std::snprintf(text_.data(), text_.size(), "%s:[%llu]", type == "pipefs" ? "pipe" : "socket", number);
  const std::string_view name = until_nul(names());
  if (type == "anon_inodefs")
    size = std::snprintf(text_.data(), text_.size(), "anon_inode:%.*s", static_cast<int>(name.size()), name.data());
  if ((type == "tmpfs" || type == "hugetlbfs") && name.starts_with("memfd:") && names().size() == name.size() + 1)
    size = std::snprintf(text_.data(), text_.size(), "/%.*s%s", static_cast<int>(name.size()), name.data(), kDeleted.data());
  return {text_.data(), static_cast<size_t>(size)};
}

std::string_view OpenFiles::names() const noexcept { return {file_.names.data(), file_.names_size}; }

// "passwd\0etc\0" is /etc/passwd.
std::string_view OpenFiles::join(std::string_view names, bool is_unlinked) noexcept {
  static_assert(sizeof text_ > CapturedFile::kNames + CapturedFile::kLongestName + kDeleted.size() + 1);
  size_t at = text_.size();
  const auto prepend = [&](std::string_view text) { at -= text.size(), text.copy(text_.data() + at, text.size()); };
  if (is_unlinked) prepend(kDeleted);
  if (names.empty()) prepend("/");
  while (!names.empty()) {
    const std::string_view name = until_nul(names);
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    prepend(name), prepend("/");
  }
  return {text_.data() + at, text_.size() - at};
}

std::string_view OpenFiles::link(int32_t descriptor) noexcept {
  char name[32];
  std::snprintf(name, sizeof name, "fd/%d", descriptor);
  return read_link(name);
}

std::string_view OpenFiles::read_link(const char* name) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/%s", pid_, name);
  const ssize_t length = readlink(path, text_.data(), text_.size());
  return {text_.data(), length < 0 ? 0 : static_cast<size_t>(length)};
}

// True if the descriptor is of the captured file still, and that has the same name.
bool OpenFiles::is_still(int32_t descriptor, std::string_view path) const noexcept {
  char at[64];
  struct stat now;
  std::snprintf(at, sizeof at, "/proc/%d/fd/%d", pid_, descriptor);
  if (path.empty() || stat(at, &now) != 0 || now.st_ino != file_.inode) return false;
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  return path.substr(path.rfind('/') + 1) == until_nul(names());
}

std::string_view OpenFiles::text_of_waiting(int32_t descriptor, unsigned which) noexcept {
  const std::string_view target = link(descriptor);
  if (target.empty() || which == kPath) return target;
  const bool wants_type = which == kFileSystem;
  const std::string_view otherwise = wants_type ? special_file_system(target) : kUnknown;
  return mount(info(pid_, descriptor, "mnt_id:\t", 10), wants_type, otherwise);
}

std::string_view OpenFiles::mount(int64_t id, bool wants_type, std::string_view otherwise) noexcept {
  char path[64], start[32];
  std::snprintf(path, sizeof path, "/proc/%d/mountinfo", pid_);
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
