// Covered by tests/runtime/scenarios/test_validate.py.

#include "lab/validate/workload_child.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "lab/noise/quiet_time.h"

namespace dvm::lab {

std::unique_ptr<WorkloadChild> WorkloadChild::start(const std::string& program) {
  if (access(program.c_str(), X_OK) != 0) throw Error{fmt::format("failed to start {}: {}", program, std::strerror(errno))};
  const noise::QuietReadings quiet = noise::quiet_core();
  const std::string speed = fmt::format("{}", noise::speed_of_times()), near = fmt::format("{}", quiet.near),
                    far = fmt::format("{}", quiet.far);
  auto piped = or_throw(PipedChild::start([&](int orders, int answers) {
    dup2(orders, STDIN_FILENO), dup2(answers, STDOUT_FILENO);
    execl(program.c_str(), program.c_str(), speed.c_str(), near.c_str(), far.c_str(), nullptr);
  }));
  std::unique_ptr<WorkloadChild> child(new WorkloadChild(std::move(piped)));
  // It has become the workload, with its probes in place, when it answers.
  child->run({"empty", 1, 0});
  return child;
}

void WorkloadChild::order(const Job& job) {
  const std::string line = fmt::format("{} {} {} {} {} {}\n", job.name, job.rounds, job.burst, job.period, job.threads, job.keys);
  or_throw(child_->tell(line.data(), line.size()));
}

// The child writes a line at once.
JobTimes WorkloadChild::finish() {
  char line[256] = {};
  if (child_->hear(line, sizeof line - 1) == 0) throw Error{"the workload ended early"};
  JobTimes times;
  if (std::sscanf(line, "%lf %lf %lf %lf %lf", &times.cpu, &times.wall, &times.calls, &times.quiet, &times.slowdown) < 5)
    throw Error{fmt::format("the workload answered '{}'", line)};
  return times;
}

JobTimes WorkloadChild::run(const Job& job) {
  order(job);
  return finish();
}

}  // namespace dvm::lab
