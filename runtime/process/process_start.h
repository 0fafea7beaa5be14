#pragma once
// How a process was started, by /proc/PID/stat and its first stack. Probe context.

#include <cstdint>

namespace dvm::runtime {

// 0: the device of its terminal. 1 and 2: seconds and nanoseconds from the epoch to its start. 3: the number of its arguments.
// 4 and 5: the addresses of its arguments and of its environment. -1: unknown, or there is none.
int64_t process_start(int32_t pid, uint64_t number) noexcept;

}  // namespace dvm::runtime
