#pragma once
// Starting a program so that it waits until its probes are in place.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dvm/common/result.h"

namespace dvm::runtime {

using Environment = std::vector<std::string>;  // NAME=VALUE
Environment own_environment();

// A function of a process: main, or one that gets the address of main as its first argument.
struct MainPlace {
  uint64_t address = 0;
  bool is_argument = false;
};

// How the program starts, and where it waits (-x evaltime).
struct StartPoint {
  // Stands in for a terminal that would be its standard output or error. -1: nothing does.
  int terminal = -1;
  // It waits before the dynamic linker has run. Otherwise, it waits at the program's entry point or, with find_main, at main
  // when all constructors have run.
  bool at_exec = false;
  std::function<Result<MainPlace>(pid_t)> find_main{};
};

// Returns the pid of a child of this thread that is stopped there under ptrace, its code unchanged. With an error no child is
// left.
Result<pid_t> start_stopped(const std::vector<std::string>& words, const Environment& environment, const StartPoint& point = {});

// Of a process that has just executed a program: AT_ENTRY, the address of the program's first instruction, wherever it was
// loaded.
std::optional<uint64_t> entry_point(pid_t pid);
bool is_64_bit_program(pid_t pid);

}  // namespace dvm::runtime
