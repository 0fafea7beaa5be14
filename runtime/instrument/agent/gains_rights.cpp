// Tested by tests/runtime/scenarios/test_lost_probes.py.

#include "runtime/instrument/agent/gains_rights.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/limits.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>
#include <string_view>

#include "runtime/process/target_memory.h"

namespace dvm::runtime {
namespace {

constexpr std::string_view kBlanks = " \t";

bool has_rights(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return false;  // nor can the thread execute it
  const bool sets_ids = (status.st_mode & (S_ISUID | S_ISGID)) != 0;
  return sets_ids || access(path.c_str(), R_OK) != 0 || getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

// Its links may lead elsewhere than they do for dvm.
bool has_other_root(pid_t tid) {
  struct stat its {
  }, own{};
  const bool is_known = stat(fmt::format("/proc/{}/root/", tid).c_str(), &its) == 0 && stat("/", &own) == 0;
  return !is_known || its.st_dev != own.st_dev || its.st_ino != own.st_ino;
}

// As dvm reaches a path of the thread.
std::string seen_from_here(const ExecCall& call, const std::string& path) {
  if (path.starts_with('/')) return fmt::format("/proc/{}/root{}", call.tid, path);
  if (call.folder == AT_FDCWD) return fmt::format("/proc/{}/cwd/{}", call.tid, path);
  const std::string folder = fmt::format("/proc/{}/fd/{}", call.tid, call.folder);
  return path.empty() ? folder : folder + "/" + path;
}

// The program that runs a script; empty: it is none.
std::string interpreter_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (file.get() != '#' || file.get() != '!' || !std::getline(file, line)) return "";
  const size_t begin = line.find_first_not_of(kBlanks);
  return begin == std::string::npos ? "" : line.substr(begin, line.find_first_of(kBlanks, begin) - begin);
}

}  // namespace

bool gains_rights(const ExecCall& call) {
  std::array<char, PATH_MAX> text{};
  const auto length = TargetMemory().read_string(call.pid, call.path, text);
  if (length < 0 || has_other_root(call.tid)) return true;
  const std::string path = seen_from_here(call, {text.data(), static_cast<size_t>(length)});
  if (has_rights(path)) return true;
  const std::string interpreter = interpreter_of(path);
  return !interpreter.empty() && has_rights(seen_from_here(call, interpreter));
}

}  // namespace dvm::runtime
