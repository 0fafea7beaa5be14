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

#include <array>
#include <cerrno>
#include <fstream>
#include <string>
#include <string_view>

#include "common/file_descriptor.h"
#include "runtime/process/target_memory.h"

namespace dvm::runtime {
namespace {

constexpr std::string_view kBlanks = " \t";

bool has_rights(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return true;
  const bool sets_ids = (status.st_mode & (S_ISUID | S_ISGID)) != 0;
  return sets_ids || access(path.c_str(), R_OK) != 0 || getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
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

// A path of the thread from its root. Empty: unknown.
std::string from_root(const ExecCall& call, const std::string& path) {
  if (path.starts_with('/')) return path;
  const std::string folder =
      call.folder == AT_FDCWD ? fmt::format("/proc/{}/cwd", call.tid) : fmt::format("/proc/{}/fd/{}", call.tid, call.folder);
  const std::string its = below(target_of(fmt::format("/proc/{}/root", call.tid)), target_of(folder));
  return its.starts_with('/') ? fmt::format("{}/{}", its, path) : "";
}

// Links such as /proc/self/cwd mean something else for dvm, so they are not followed (ELOOP).
FileDescriptor open_file(const ExecCall& call, const std::string& path) {
  const FileDescriptor root(open(fmt::format("/proc/{}/root", call.tid).c_str(), O_PATH | O_CLOEXEC));
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return FileDescriptor(static_cast<int>(syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how)));
}

// The program that runs a script; empty: it is none.
std::string interpreter_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (file.get() != '#' || file.get() != '!' || !std::getline(file, line)) return "";
  const size_t begin = line.find_first_not_of(kBlanks);
  return begin == std::string::npos ? "" : line.substr(begin, line.find_first_of(kBlanks, begin) - begin);
}

// By the file, or by the interpreter of a script, which may be a script.
bool file_gives(const ExecCall& call, const std::string& path, int scripts = 0) {
  constexpr int kMostScripts = 5;  // that the kernel follows
  if (path.empty()) return has_rights(fmt::format("/proc/{}/fd/{}", call.tid, call.folder));
  const std::string full = from_root(call, path);
  if (full.empty()) return true;
  const FileDescriptor file = open_file(call, full);
  if (!file) return errno != ENOENT && errno != ENOTDIR && errno != EACCES;  // nor can the thread execute it
  const std::string here = fmt::format("/proc/self/fd/{}", file.get());
  if (has_rights(here)) return true;
  const std::string interpreter = scripts == kMostScripts ? "" : interpreter_of(here);
  return !interpreter.empty() && file_gives(call, interpreter, scripts + 1);
}

}  // namespace

bool gains_rights(const ExecCall& call) {
  std::array<char, PATH_MAX> text{};
  const auto length = TargetMemory().read_string(call.pid, call.path, text);
  if (length < 0) return true;
  return file_gives(call, {text.data(), static_cast<size_t>(length)});
}

}  // namespace dvm::runtime
