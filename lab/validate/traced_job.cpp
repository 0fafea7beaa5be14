// Covered by tests/runtime/scenarios/test_simulate.py.

#include "lab/validate/traced_job.h"

#include <thread>

#include "common/clock.h"
#include "lab/noise/apart.h"
#include "lab/quiet_looks.h"

namespace dvm::runtime {

Result<JobRun> run_job(Handle& handle, const Job& job, WorkloadChild& child) {
  const noise::Placed apart = noise::Placed::apart(child.pid(), job.threads);
  QuietLooks looks(handle);
  const uint64_t ordered_at = read_clock(CLOCK_MONOTONIC);
  if (Status ordered = child.order(job); !ordered) return ordered.error();
  std::jthread watcher([&] {
    child.wait();
    handle.targets_gone();
  });
  while (looks.look()) {
  }
  looks.look();  // at what came while the last one was under way
  const auto worked = static_cast<double>(read_clock(CLOCK_MONOTONIC) - ordered_at);
  watcher.join();
  const Result<JobTimes> times = child.finish();
  if (!times) return times.error();
  return JobRun{*times, looks.ns(), worked, looks.quiet_share()};
}

Result<TracedJob> trace_job(TracedProgram& program, const Job& job, WorkloadChild& child) {
  Handle& handle = program.handle();
  const double before = static_cast<double>(handle.account().events);
  const Result<JobRun> run = run_job(handle, job, child);
  if (!run) return run.error();
  TracedJob traced;
  traced.times = run->times, traced.dvm = run->dvm, traced.worked = run->worked, traced.quiet = run->quiet;
  if (Status stopped = handle.stop(); !stopped) return stopped.error();
  traced.handled = static_cast<double>(handle.account().events) - before;
  traced.lost = static_cast<double>(handle.instrument_drops());
  traced.unrecorded = static_cast<double>(handle.drops()) - traced.lost;
  return traced;
}

}  // namespace dvm::lab
