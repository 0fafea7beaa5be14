#include "runtime/instrument/agent/thread_clock.h"

#include <cstddef>

#include "common/file_bytes.h"

namespace dvm::runtime {

void publish(const inside::ClockLine& line, int file) {
  constexpr uint64_t kNumber = offsetof(inside::DataHeader, clock_number), kLines = offsetof(inside::DataHeader, clock);
  uint64_t number = 0;
  if (!read_value(file, kNumber, number)) return;
  const uint64_t next = inside::number_of_line(number) + 1;
  if (write_value(file, kLines + next % 2 * sizeof line, line)) write_value(file, kNumber, inside::clock_number(next));
}

}  // namespace dvm::runtime
