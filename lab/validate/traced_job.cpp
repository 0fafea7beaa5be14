// Covered by tests/runtime/scenarios/test_simulate.py.

#include "lab/validate/traced_job.h"

#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

#include "common/clock.h"
#include "lab/calibrate/quiet_looks.h"
#include "lab/noise/apart.h"

namespace dvm::lab {

double busy_time() {
  std::ifstream file("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, interrupts = 0, soft = 0;
  file >> name >> user >> nice >> system >> idle >> wait >> interrupts >> soft;
  return (user + nice + system + interrupts + soft) / static_cast<double>(sysconf(_SC_CLK_TCK)) * 1e9;
}

TracedJob trace_job(TracedProgram& program, const Job& job, WorkloadChild& child) {
  runtime::Handle& handle = program.handle();
  const noise::CpuPlacement apart = noise::CpuPlacement::apart(child.pid(), job.threads);
  const double before = static_cast<double>(handle.account().events);
  QuietLooks looks(handle);
  const double busy = busy_time();
  const uint64_t ordered_at = read_clock(CLOCK_MONOTONIC);
  child.order(job);
  std::jthread watcher([&] {
    child.wait();
    handle.targets_gone();
  });
  while (looks.look()) {
  }
  looks.look();  // for what came during the last one
  TracedJob traced;
  traced.worked = static_cast<double>(read_clock(CLOCK_MONOTONIC) - ordered_at);
  watcher.join();
  traced.times = child.finish(), traced.dvm = looks.ns(), traced.quiet = looks.quiet_share();
  traced.busy = busy_time() - busy;
  or_throw(handle.stop());
  traced.handled = static_cast<double>(handle.account().events) - before;
  traced.lost = static_cast<double>(handle.instrument_drops());
  traced.unrecorded = static_cast<double>(handle.drops()) - traced.lost;
  return traced;
}

}  // namespace dvm::lab
