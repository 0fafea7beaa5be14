#pragma once
// The clock of traced threads (runtime/agent/inside/time.h). dvm publishes a new line at each poll.

#include "runtime/agent/inside/format.h"

namespace dvm::runtime {

// file: with the data mapping of a process. A thread that reads the line in use is not disturbed.
void publish(const inside::ClockLine& line, int file);

}  // namespace dvm::runtime
