#pragma once
// How a process was started, from /proc/PID/stat and its initial stack. Probe context.

#include <cstdint>

namespace dvm::runtime {

// A property of a process, by number. -1: unknown, or there is none.
//
//   0     device of the terminal
//   1, 2  start, in seconds and nanoseconds since the epoch
//   3     number of arguments
//   4, 5  addresses of the arguments and of the environment
int64_t process_start(int32_t pid, uint64_t number) noexcept;

}  // namespace dvm::runtime
