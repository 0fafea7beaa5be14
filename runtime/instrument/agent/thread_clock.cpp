#include "runtime/instrument/agent/thread_clock.h"

#include <unistd.h>

#include <cstddef>

namespace dvm::runtime {

void publish(const inside::ClockLine& line, int file) {
  constexpr off_t kNumber = offsetof(inside::DataHeader, clock_number), kLines = offsetof(inside::DataHeader, clock);
  uint64_t number = 0;
  if (pread(file, &number, sizeof number, kNumber) != sizeof number) return;
  number++;
  const auto at = kLines + static_cast<off_t>((number & 1) * sizeof line);
  if (pwrite(file, &line, sizeof line, at) != sizeof line) return;
  [[maybe_unused]] const ssize_t written = pwrite(file, &number, sizeof number, kNumber);
}

}  // namespace dvm::runtime
