#include "runtime/instrument/agent/thread_clock.h"

#include <cstddef>

#include "common/file_bytes.h"

namespace dvm::runtime {

void publish(const inside::ClockLine& line, int file) {
  constexpr uint64_t kNumber = offsetof(inside::DataHeader, clock_number), kLines = offsetof(inside::DataHeader, clock);
  uint64_t number = 0;
  if (!read_value(file, kNumber, number)) return;
  number += inside::kLineStep;
  if (write_value(file, kLines + number / inside::kLineStep % 2 * sizeof line, line)) write_value(file, kNumber, number);
}

}  // namespace dvm::runtime
