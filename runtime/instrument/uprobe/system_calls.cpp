// Tested by tests/unit/instrument/system_calls_test.cpp.
#include "runtime/instrument/uprobe/system_calls.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace dvm::runtime {
namespace {

constexpr size_t kMostBytes = 1 << 16;

// A mount of tracefs that has no place in the file system. -1: it may not be made.
int mount_aside() {
  const int context = fsopen("tracefs", FSOPEN_CLOEXEC);
  if (context < 0) return -1;
  const bool is_made = fsconfig(context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0;
  const int mounted = is_made ? fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY) : -1;
  close(context);
  return mounted;
}

int open_events() {
  for (const char* folder : {"/sys/kernel/tracing/events/syscalls", "/sys/kernel/debug/tracing/events/syscalls"}) {
    const int found = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (found >= 0) return found;
  }
  const int mounted = mount_aside();
  if (mounted < 0) return -1;
  const int found = openat(mounted, "events/syscalls", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  close(mounted);
  return found;
}

std::string read_all(int file) {
  std::string text;
  std::array<char, 4096> part;
  ssize_t count = 0;
  while (text.size() < kMostBytes && (count = read(file, part.data(), part.size())) > 0)
    text.append(part.data(), static_cast<size_t>(count));
  close(file);
  return text;
}

// The kernel's functions have other names for some: stat is newstat, sendfile is sendfile64, umount2 is umount.
std::vector<std::string> names_of(std::string_view call) {
  std::vector<std::string> names = {std::string(call), fmt::format("new{}", call), fmt::format("{}64", call)};
  if (call.ends_with('2')) names.emplace_back(call.substr(0, call.size() - 1));
  return names;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word) || (text.size() > word.size() && text[word.size()] != ' ' && text[word.size()] != '*'))
    return false;
  text.remove_prefix(word.size());
  return true;
}

// Spells it as the kernel's own types do: "long unsigned int", not "unsigned long".
std::string spell_integer(const std::vector<std::string_view>& words) {
  const auto count = [&](std::string_view word) { return std::count(words.begin(), words.end(), word); };
  const bool is_unsigned = count("unsigned") != 0;
  const auto longs = count("long");
  if (count("char") != 0) return is_unsigned ? "unsigned char" : "char";
  if (longs == 0 && count("short") == 0) return is_unsigned ? "unsigned int" : "int";
  return fmt::format("{}{}int", longs == 2 ? "long long " : longs == 1 ? "long " : "short ", is_unsigned ? "unsigned " : "");
}

bool is_part_of_integer(std::string_view word) {
  constexpr std::array kParts = {"unsigned", "signed", "char", "short", "int", "long"};
  return std::find(kParts.begin(), kParts.end(), word) != kParts.end();
}

}  // namespace

std::vector<CallParameter> parse_event_format(std::string_view text) {
  std::vector<CallParameter> fields;
  bool is_behind_number = false;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t start = line.find("field:");
    if (start == std::string_view::npos) continue;
    line = line.substr(start + 6, line.find(';') - start - 6);
    const size_t name = line.find_last_of(" *") + 1;
    std::string_view type = line.substr(0, name);
    while (type.ends_with(' ')) type.remove_suffix(1);
    // A copy of the string that an argument points at is no argument.
    if (is_behind_number && !type.starts_with("__data_loc"))
      fields.push_back({std::string(type), std::string(line.substr(name))});
    is_behind_number = is_behind_number || line.substr(name) == "__syscall_nr";
  }
  return fields;
}

SpelledType parse_type(std::string_view text) {
  SpelledType type;
  type.pointers = static_cast<unsigned>(std::count(text.begin(), text.end(), '*'));
  text = text.substr(0, text.find('*'));
  std::vector<std::string_view> integer;
  while (!text.empty()) {
    if (text.front() == ' ') {
      text.remove_prefix(1);
      continue;
    }
    if (take(text, "const") || take(text, "volatile") || take(text, "__user")) continue;
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    if (word == "struct" || word == "union" || word == "enum") {
      type.keyword = word;
    } else if (is_part_of_integer(word)) {
      integer.push_back(word);
    } else {
      type.name = word;
    }
  }
  if (!integer.empty()) type.name = spell_integer(integer);
  return type;
}

Result<std::vector<CallParameter>> call_parameters(std::string_view name, bool is_return) {
  static const int events = open_events();
  if (events < 0) return Error{"the kernel's description of its system calls (tracefs, events/syscalls) cannot be read"};
  for (const std::string& one : names_of(name)) {
    const int file =
        openat(events, fmt::format("sys_{}_{}/format", is_return ? "exit" : "enter", one).c_str(), O_RDONLY | O_CLOEXEC);
    if (file >= 0) return parse_event_format(read_all(file));
  }
  return Error{fmt::format("the kernel does not describe the system call {}", name)};
}

}  // namespace dvm::runtime
