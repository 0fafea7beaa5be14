#pragma once
// The clock of traced threads (runtime/agent/inside/time.h): dvm publishes a line at each poll, from then on in use.
// Tested by tests/unit/instrument/thread_clock_test.cpp.

#include "runtime/agent/inside/format.h"

namespace dvm::runtime {

// file: with the data mapping of a process. A thread that reads the line in use is not disturbed.
void publish(const inside::ClockLine& line, int file);

}  // namespace dvm::runtime
