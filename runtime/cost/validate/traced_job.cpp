// Covered by tests/runtime/scenarios/test_simulate.py.

#include "runtime/cost/validate/traced_job.h"

#include <thread>

#include "common/clock.h"

namespace dvm::runtime {

Result<JobRun> run_job(Handle& handle, const Job& job, WorkloadChild& child) {
  const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID), ordered_at = read_clock(CLOCK_MONOTONIC);
  if (Status ordered = child.order(job); !ordered) return ordered.error();
  std::jthread watcher([&] {
    child.wait();
    handle.interrupt();
  });
  while (handle.work()) {
  }
  const auto worked = static_cast<double>(read_clock(CLOCK_MONOTONIC) - ordered_at);
  watcher.join();
  const auto dvm = static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin);
  const Result<JobTimes> times = child.finish();
  if (!times) return times.error();
  return JobRun{*times, dvm, worked};
}

Result<TracedJob> trace_job(TracedProgram& program, const Job& job, WorkloadChild& child) {
  Handle& handle = program.handle();
  const double before = static_cast<double>(handle.account().events);
  const Result<JobRun> run = run_job(handle, job, child);
  if (!run) return run.error();
  TracedJob traced;
  traced.times = run->times, traced.dvm = run->dvm, traced.worked = run->worked;
  if (Status stopped = handle.stop(); !stopped) return stopped.error();
  traced.handled = static_cast<double>(handle.account().events) - before;
  traced.lost = static_cast<double>(handle.instrument_drops());
  traced.unrecorded = static_cast<double>(handle.drops()) - traced.lost;
  return traced;
}

}  // namespace dvm::runtime
