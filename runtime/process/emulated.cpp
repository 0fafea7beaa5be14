// Tested by tests/runtime/scenarios/test_process.py.

#include "runtime/process/emulated.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace dvm::runtime {
namespace {

constexpr std::string_view kName = "valgrind";

// Debian's /usr/bin/valgrind is a script, and its shell has an option.
bool is_starting_script(pid_t pid, const std::filesystem::path& program) {
  const std::string shell = program.filename();
  if (shell != "sh" && shell != "dash" && shell != "bash") return false;
  std::ifstream command(fmt::format("/proc/{}/cmdline", pid), std::ios::binary);
  std::string script;
  std::getline(command, script, '\0');
  do std::getline(command, script, '\0');
  while (command && script.starts_with('-'));
  return std::filesystem::path(script).filename() == kName;
}

}  // namespace

// Its tools lie in a folder of its name: /usr/libexec/valgrind/memcheck-amd64-linux.
bool is_emulated(pid_t pid) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), error);
  const std::string name = program.filename();
  const bool is_tool = program.parent_path().filename() == kName && name.ends_with("-linux");
  return is_tool || name == kName || name == "valgrind.bin" || is_starting_script(pid, program);
}

}  // namespace dvm::runtime
