#pragma once
// Starts a program and stops it until its probes are in place.

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

// Where the dynamic linker says that it has mapped files, in the memory of a process.
struct LoadedPlace {
  uint64_t function = 0;  // _dl_debug_state()
  uint64_t state = 0;     // r_state of _r_debug
};

// How the program starts, and where it waits (-x evaltime).
struct StartPoint {
  // Replaces its standard output and error if these are a terminal. -1: does not.
  int terminal = -1;
  // True: it stops before the dynamic linker runs. False: it stops at the program's entry point, or at one of these:
  bool at_exec = false;
  // Where all libraries are mapped, and no constructor has run; at the entry point if there is no such place.
  std::function<std::optional<LoadedPlace>(pid_t)> find_loaded{};
  // At main, after all constructors have run.
  std::function<Result<MainPlace>(pid_t)> find_main{};
};

// Returns the pid of a child of this thread, which is stopped at that point under ptrace, with its code unchanged. After an error
// there is no child.
Result<pid_t> start_stopped(const std::vector<std::string>& words, const Environment& environment, const StartPoint& point = {});

// The address of the first instruction of the program (AT_ENTRY), in a process that has just executed it.
std::optional<uint64_t> entry_point(pid_t pid);
bool is_64_bit_program(pid_t pid);

}  // namespace dvm::runtime
