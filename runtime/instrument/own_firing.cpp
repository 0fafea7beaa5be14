// Tested by tests/unit/instrument/timer_test.cpp.

#include "runtime/instrument/own_firing.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "common/clock.h"

namespace dvm::runtime {

vm::Firing own_firing() noexcept {
  constexpr size_t kCommSize = 15;  // characters that the kernel keeps of the name of a thread
  vm::Firing firing;
  firing.timestamp = read_clock(CLOCK_MONOTONIC);
  firing.walltimestamp = read_clock(CLOCK_REALTIME);
  firing.vtimestamp = read_clock(CLOCK_THREAD_CPUTIME_ID);
  firing.pid = getpid();
  firing.tid = gettid();
  firing.cpu = std::max(sched_getcpu(), 0);
  firing.execname = std::string_view(program_invocation_short_name).substr(0, kCommSize);
  firing.reads_in_time = true;
  return firing;
}

}  // namespace dvm::runtime
