#pragma once
// The parts of a firing that DIF can use, as bits. The instrument captures those that a clause needs
// (runtime/instrument/capture.h).

#include <cstdint>

namespace dvm::dif {

enum class FiringPart : uint32_t {
  nothing = 0,
  argument = 1 << 0,   // argN, or args[N]
  goroutine = 1 << 1,  // the goroutine that calls a function of Go
  time = 1 << 2,
  vtime = 1 << 3,   // the CPU time of the thread
  thread = 1 << 4,  // pid and tid
  cpu = 1 << 5,
  comm = 1 << 6,   // the thread's name
  error = 1 << 7,  // errno of a system call

  caller = 1 << 8,      // two frames of the user stack
  stack = 1 << 9,       // all frames of the user stack
  registers = 1 << 10,  // uregs[N]

  kernel_caller = 1 << 11,  // two frames of the kernel stack
  kernel_stack = 1 << 12,   // all frames of the kernel stack
  owner = 1 << 13,          // uid and gid of the process
  parent = 1 << 14,         // ppid of the process

  file = 1 << 15,       // an open file
  command = 1 << 16,    // the command line
  directory = 1 << 17,  // the working directory
  number = 1 << 18,     // dvm_process[N]
  ancestors = 1 << 19   // the parent, its parent and so on
};

constexpr FiringPart operator|(FiringPart a, FiringPart b) {
  return static_cast<FiringPart>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}

// Calls visit(part) for each single part.
template <class Visit>
constexpr void for_each_part(FiringPart parts, Visit&& visit) {
  for (unsigned rest = static_cast<unsigned>(parts); rest != 0; rest &= rest - 1)
    visit(static_cast<FiringPart>(rest & (0 - rest)));
}

}  // namespace dvm::dif
