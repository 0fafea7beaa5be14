// Covered by tests/runtime/scenarios/test_simulate.py.

#include "runtime/cost/validate/traced_job.h"

#include <thread>

#include "common/clock.h"

namespace dvm::runtime {

Result<TracedJob> trace_job(TracedProgram& program, const Job& job, WorkloadChild& child) {
  Handle& handle = program.handle();
  const double before = static_cast<double>(handle.account().events);
  const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
  if (Status ordered = child.order(job); !ordered) return ordered.error();
  std::jthread watcher([&] {
    child.wait();
    handle.interrupt();
  });
  while (handle.work()) {
  }
  watcher.join();
  TracedJob traced;
  traced.dvm = static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin);
  Result<JobTimes> times = child.finish();
  if (!times) return times.error();
  traced.times = *times;
  if (Status stopped = handle.stop(); !stopped) return stopped.error();
  traced.handled = static_cast<double>(handle.account().events) - before;
  traced.lost = static_cast<double>(handle.instrument_drops());
  traced.unrecorded = static_cast<double>(handle.drops()) - traced.lost;
  return traced;
}

}  // namespace dvm::runtime
