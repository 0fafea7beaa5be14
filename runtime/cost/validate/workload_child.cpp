// Covered by tests/runtime/scenarios/test_validate.py.

#include "runtime/cost/validate/workload_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace dvm::runtime {
namespace {

Error system_error(const char* what) { return {fmt::format("{}: {}", what, std::strerror(errno))}; }

[[noreturn]] void become(const std::string& program, int orders, int answers) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(orders, STDIN_FILENO), dup2(answers, STDOUT_FILENO);
  execl(program.c_str(), program.c_str(), nullptr);
  _exit(127);
}

}  // namespace

Result<std::unique_ptr<WorkloadChild>> WorkloadChild::start(const std::string& program) {
  if (access(program.c_str(), X_OK) != 0) return Error{fmt::format("failed to start {}: {}", program, std::strerror(errno))};
  int orders[2], answers[2];
  if (pipe2(orders, O_CLOEXEC) != 0) return system_error("failed to make a pipe");
  if (pipe2(answers, O_CLOEXEC) != 0) {
    const Error error = system_error("failed to make a pipe");
    close(orders[0]), close(orders[1]);
    return error;
  }
  std::unique_ptr<WorkloadChild> child(new WorkloadChild);
  child->to_child_ = orders[1], child->from_child_ = answers[0];
  child->pid_ = fork();
  if (child->pid_ == 0) become(program, orders[0], answers[1]);
  const int error = errno;
  close(orders[0]), close(answers[1]);
  errno = error;
  if (child->pid_ < 0) return system_error("failed to fork");
  // It has become the workload, with its probes in place, when it answers.
  if (auto ready = child->run({"empty", 1, 0}); !ready) return ready.error();
  return child;
}

WorkloadChild::~WorkloadChild() {
  close(to_child_), close(from_child_);
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

Status WorkloadChild::order(const Job& job) {
  const std::string line = fmt::format("{} {} {} {} {} {}\n", job.name, job.rounds, job.burst, job.period, job.threads, job.keys);
  return write(to_child_, line.data(), line.size()) == static_cast<ssize_t>(line.size())
             ? Status()
             : system_error("failed to write to the workload");
}

void WorkloadChild::wait() const {
  pollfd answer{from_child_, POLLIN, 0};
  while (poll(&answer, 1, -1) < 0 && errno == EINTR) {
  }
}

// The child writes a line at once.
Result<JobTimes> WorkloadChild::finish() {
  char line[256];
  const ssize_t got = read(from_child_, line, sizeof line - 1);
  if (got <= 0) return Error{"the workload ended early"};
  line[got] = '\0';
  JobTimes times;
  if (std::sscanf(line, "%lf %lf %lf %lf %lf", &times.user, &times.system, &times.cpu, &times.wall, &times.calls) < 4)
    return Error{fmt::format("the workload answered '{}'", line)};
  return times;
}

Result<JobTimes> WorkloadChild::run(const Job& job) {
  if (Status ordered = order(job); !ordered) return ordered.error();
  return finish();
}

}  // namespace dvm::runtime
