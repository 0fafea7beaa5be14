// Covered by tests/runtime/scenarios/test_forks.py.

#include "runtime/session/untraced_children.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "runtime/agent/detach.h"

namespace dvm::runtime {
namespace {

using ProgramId = std::pair<dev_t, ino_t>;

// Nothing: the process has ended, or may not be examined.
std::optional<ProgramId> program_of(int32_t pid) {
  struct stat file {};
  if (stat(fmt::format("/proc/{}/exe", pid).c_str(), &file) != 0) return std::nullopt;
  return ProgramId{file.st_dev, file.st_ino};
}

std::vector<int32_t> all_processes() {
  std::vector<int32_t> all;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator("/proc", error); !error && it != std::filesystem::directory_iterator();
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    int32_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr == name.data() + name.size()) all.push_back(pid);
  }
  std::sort(all.begin(), all.end());
  return all;
}

// "12", "12 and 13", "12, 13, 14 and 5 more".
std::string list_of(std::span<const int32_t> pids) {
  constexpr size_t kMost = 3;
  if (pids.size() > kMost) return fmt::format("{} and {} more", fmt::join(pids.first(kMost), ", "), pids.size() - kMost);
  if (pids.size() == 1) return std::to_string(pids[0]);
  return fmt::format("{} and {}", fmt::join(pids.first(pids.size() - 1), ", "), pids.back());
}

// Those of a process that dvm has started were all forked while it was traced.
std::string note_of(int32_t pid, std::span<const int32_t> children) {
  const bool is_one = children.size() == 1;
  const bool is_started = parent_of(pid) == getpid();
  return fmt::format(
      "nothing was recorded in process {}, but its {} {} {} the same program: {}", pid, is_one ? "child" : "children",
      list_of(children), is_one ? "runs" : "run",
      is_started ? "-x followfork traces children, too" : "trace one by -p, or those that are forked later by -x followfork");
}

}  // namespace

std::vector<std::string> notes_of_untraced_children(const std::set<int32_t>& traced) {
  std::map<int32_t, std::vector<int32_t>> children;
  for (const int32_t pid : all_processes()) {
    const int32_t parent = parent_of(pid);
    if (traced.contains(pid) || !traced.contains(parent)) continue;
    const auto program = program_of(pid);
    if (program && program == program_of(parent)) children[parent].push_back(pid);
  }
  std::vector<std::string> notes;
  for (const auto& [pid, its] : children) notes.push_back(note_of(pid, its));
  return notes;
}

}  // namespace dvm::runtime
