// Tested by tests/runtime/scenarios/test_lost_probes.py and test_wrappers.py.

#include "runtime/instrument/agent/gains_rights.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/limits.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include "common/file_descriptor.h"
#include "runtime/process/target_memory.h"

namespace dvm::runtime {
namespace {

constexpr size_t kReadByKernel = 256;  // of a script

// O_PATH blocks at no file, and the file stays the same one.
FileDescriptor open_link(const std::string& path) { return FileDescriptor(open(path.c_str(), O_PATH | O_CLOEXEC)); }
std::string link_to(const FileDescriptor& file) { return fmt::format("/proc/self/fd/{}", file.get()); }

bool has_rights(const FileDescriptor& file, mode_t mode) {
  const std::string here = link_to(file);
  if ((mode & (S_ISUID | S_ISGID)) != 0 || access(here.c_str(), R_OK) != 0) return true;
  return getxattr(here.c_str(), "security.capability", nullptr, 0) > 0;
}

// A link of /proc, which leads to a path as dvm sees it. Empty: unknown.
std::string target_of(const std::string& link) {
  std::array<char, PATH_MAX> text{};
  const ssize_t length = readlink(link.c_str(), text.data(), text.size());
  return length > 0 ? std::string(text.data(), static_cast<size_t>(length)) : "";
}

// "/folder" for "/root/folder"; empty: it is outside.
std::string below(const std::string& root, const std::string& folder) {
  if (root == "/" || root == folder) return root == "/" ? folder : "/";
  return !root.empty() && folder.starts_with(root + "/") ? folder.substr(root.size()) : "";
}

// Links such as /proc/self/cwd mean something else for dvm, so they are not followed (ELOOP).
FileDescriptor open_from_root(const FileDescriptor& root, const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return FileDescriptor(static_cast<int>(syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how)));
}

// Also by the same mount.
bool is_same(const FileDescriptor& one, const FileDescriptor& other) {
  constexpr unsigned kWanted = STATX_INO | STATX_MNT_ID;
  struct statx first {
  }, second{};
  const bool are_known = statx(one.get(), "", AT_EMPTY_PATH, kWanted, &first) == 0 &&
                         statx(other.get(), "", AT_EMPTY_PATH, kWanted, &second) == 0 &&
                         (first.stx_mask & second.stx_mask & kWanted) == kWanted;
  return are_known && first.stx_dev_major == second.stx_dev_major && first.stx_dev_minor == second.stx_dev_minor &&
         first.stx_ino == second.stx_ino && first.stx_mnt_id == second.stx_mnt_id;
}

// What the thread would execute. A relative path is followed from the root, because it may leave its folder. But the name of the
// folder may lead elsewhere, as of one that was removed, is below a mount, or belongs to another mount namespace.
FileDescriptor open_file(const ExecCall& call, const std::string& path) {
  const std::string process = fmt::format("/proc/{}", call.tid);
  const std::string its_folder = call.folder == AT_FDCWD ? process + "/cwd" : fmt::format("{}/fd/{}", process, call.folder);
  if (path.empty()) return open_link(its_folder);
  const FileDescriptor root = open_link(process + "/root");
  if (path.starts_with('/')) return open_from_root(root, path);
  const std::string name = below(target_of(process + "/root"), target_of(its_folder));
  if (name.starts_with('/') && is_same(open_link(its_folder), open_from_root(root, name)))
    return open_from_root(root, fmt::format("{}/{}", name, path));
  errno = EXDEV;
  return {};
}

// The program that runs a script; empty: it is none. False: the file cannot be read. A lease of it must not block dvm.
bool read_interpreter(const FileDescriptor& script, std::string& interpreter) {
  const FileDescriptor file(open(link_to(script).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::array<char, kReadByKernel> bytes{};
  if (!file || pread(file.get(), bytes.data(), bytes.size(), 0) < 0) return false;
  const std::string_view text(bytes.data(), bytes.size());
  const std::string_view line = text.substr(0, text.find('\n'));
  if (!line.starts_with("#!")) return true;
  const size_t begin = std::min(line.find_first_not_of(" \t", 2), line.size());
  const size_t end = line.find_first_of(std::string_view(" \t\0", 3), begin);
  if (end != std::string_view::npos || line.size() < text.size()) interpreter = line.substr(begin, end - begin);
  return true;
}

// By the file, or by the interpreter of a script, which may be a script.
bool file_gives(const ExecCall& call, const std::string& path, int scripts = 0) {
  constexpr int kMostScripts = 5;  // that the kernel follows
  const FileDescriptor file = open_file(call, path);
  if (!file) return errno != ENOENT && errno != ENOTDIR && errno != EACCES;  // nor can the thread execute it
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return true;
  if (!S_ISREG(status.st_mode)) return false;  // nor this
  std::string interpreter;
  if (has_rights(file, status.st_mode) || !read_interpreter(file, interpreter)) return true;
  const ExecCall by_kernel{call.pid, call.tid, AT_FDCWD, 0};
  return !interpreter.empty() && scripts < kMostScripts && file_gives(by_kernel, interpreter, scripts + 1);
}

}  // namespace

bool gains_rights(const ExecCall& call) {
  std::array<char, PATH_MAX> text{};
  const auto length = TargetMemory().read_string(call.pid, call.path, text);
  if (length < 0) return true;
  return file_gives(call, {text.data(), static_cast<size_t>(length)});
}

}  // namespace dvm::runtime
