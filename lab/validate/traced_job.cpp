// Covered by tests/runtime/scenarios/test_validate.py and test_simulate.py.

#include "lab/validate/traced_job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <thread>

#include "common/clock.h"
#include "lab/calibrate/quiet_polls.h"
#include "lab/noise/apart.h"
#include "lab/noise/quiet_time.h"

namespace dvm::lab {

WorkloadChild start_workload(const std::string& program) {
  if (access(program.c_str(), X_OK) != 0) throw Error{fmt::format("failed to start {}: {}", program, std::strerror(errno))};
  const noise::QuietReadings quiet = noise::quiet_core();
  const std::string speed = fmt::format("{}", noise::speed_of_times()), near = fmt::format("{}", quiet.near),
                    far = fmt::format("{}", quiet.far);
  WorkloadChild child(or_throw(PipedChild::start([&](int orders, int answers) {
    dup2(orders, STDIN_FILENO), dup2(answers, STDOUT_FILENO);
    execl(program.c_str(), program.c_str(), speed.c_str(), near.c_str(), far.c_str(), nullptr);
  })));
  or_throw(child.ask({"empty", 1}));  // it has become the workload, with its probes in place, when it answers
  return child;
}

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
  QuietPolls polls(handle);
  const double busy = busy_time();
  const uint64_t ordered_at = read_clock(CLOCK_MONOTONIC);
  or_throw(child.tell(job));
  std::jthread watcher([&] {
    child.wait();
    handle.targets_gone();
  });
  while (polls.poll()) {
  }
  polls.poll();  // for what came during the last one
  TracedJob traced;
  traced.worked = static_cast<double>(read_clock(CLOCK_MONOTONIC) - ordered_at);
  watcher.join();
  traced.times = or_throw(child.finish()), traced.dvm = polls.ns(), traced.quiet = polls.quiet_share();
  traced.busy = busy_time() - busy;
  or_throw(handle.stop());
  traced.handled = static_cast<double>(handle.account().events) - before;
  traced.lost = static_cast<double>(handle.instrument_drops());
  traced.unrecorded = static_cast<double>(handle.drops()) - traced.lost;
  return traced;
}

}  // namespace dvm::lab
