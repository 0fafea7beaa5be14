// Covered by tests/unit/common/run_program_test.cpp.

#include "common/run_program.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace dvm {

Result<int> run_program(const std::string& program, std::span<const std::string> words, std::span<const HandedFile> files) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const auto& [own, handed] : files) posix_spawn_file_actions_adddup2(&actions, own, handed);
  pid_t child = 0;
  const int error = posix_spawnp(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Error{fmt::format("failed to run {}: {}", program, std::strerror(error))};
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return Error{fmt::format("failed to wait for {}: {}", program, std::strerror(errno))};
  if (WIFSIGNALED(status)) return Error{fmt::format("{} was ended by signal {}", program, WTERMSIG(status))};
  return WEXITSTATUS(status);
}

}  // namespace dvm
