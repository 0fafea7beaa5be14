// Tested by tests/unit/instrument/timer_test.cpp.

#include "runtime/instrument/own_firing.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "common/clock.h"

namespace dvm::runtime {

namespace {

// As the kernel keeps the name of a thread.
const std::string& own_name() noexcept {
  static const std::string name = std::string(program_invocation_short_name).substr(0, 15);
  return name;
}

}  // namespace

vm::Firing own_firing() noexcept {
  vm::Firing firing;
  firing.timestamp = read_clock(CLOCK_MONOTONIC);
  firing.walltimestamp = read_clock(CLOCK_REALTIME);
  firing.vtimestamp = read_clock(CLOCK_THREAD_CPUTIME_ID);
  firing.pid = getpid();
  firing.tid = gettid();
  firing.cpu = std::max(sched_getcpu(), 0);
  firing.execname = own_name();  // a zero follows it
  firing.reads_in_time = true;
  return firing;
}

}  // namespace dvm::runtime
