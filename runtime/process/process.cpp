// Grabbing and watching a process. Covered by tests/unit/instrument/process_test.cpp.

#include "runtime/process/process.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "runtime/process/target_memory.h"

namespace dvm::runtime {
namespace {

int open_pidfd(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

std::string name_of(pid_t pid) {
  std::ifstream comm(fmt::format("/proc/{}/comm", pid));
  std::string name;
  std::getline(comm, name);
  return name;
}

Error cannot_grab(pid_t pid, std::string_view why) { return Error{fmt::format("failed to grab process {}: {}", pid, why)}; }

// A process of another user, or one that runs with more rights than its user, is root's affair. Being allowed to see its maps is
// the kernel's own word on that.
bool may_trace(pid_t pid) { return std::ifstream(fmt::format("/proc/{}/maps", pid)).good(); }

}  // namespace

Result<Process> Process::grab(pid_t pid) {
  if (pid <= 0) return cannot_grab(pid, "no such process");
  if (pid == getpid()) return cannot_grab(pid, "dvm cannot trace itself");
  Process process;
  process.pid_ = pid;
  process.pidfd_ = open_pidfd(pid);
  // EINVAL: the id of a thread that is not the first of its process.
  if (process.pidfd_ < 0) return cannot_grab(pid, errno == ESRCH || errno == EINVAL ? "no such process" : std::strerror(errno));
  if (process.has_exited()) return cannot_grab(pid, "it has exited");
  if (!may_trace(pid))
    return cannot_grab(pid, geteuid() == 0 ? "permission denied (this container or sandbox withholds it from root)"
                                           : "permission denied (it is another user's: that needs root or CAP_SYS_PTRACE)");
  process.name_ = name_of(pid);
  return process;
}

Result<Process> Process::spawn(const std::vector<std::string>& words, const Environment& environment) {
  auto pid = start_stopped(words, environment);
  if (!pid) return pid.error();
  Process process;
  process.pid_ = *pid;
  process.is_child_ = process.is_stopped_ = true;
  process.pidfd_ = open_pidfd(*pid);
  if (process.pidfd_ < 0) return Error{fmt::format("failed to watch process {}: {}", *pid, std::strerror(errno))};
  process.name_ = name_of(*pid);
  return process;
}

Result<Process> Process::spawn(std::string_view command, const Environment& environment) {
  auto words = split_command(command);
  if (!words) return Error{fmt::format("failed to exec '{}': {}", command, words.error().message)};
  return spawn(*words, environment);
}

Process::Process(Process&& other) noexcept { *this = std::move(other); }

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  std::swap(is_child_, other.is_child_);
  std::swap(is_stopped_, other.is_stopped_);
  std::swap(has_exited_, other.has_exited_);
  std::swap(exit_status_, other.exit_status_);
  std::swap(name_, other.name_);
  return *this;
}

Process::~Process() {
  kill();
  if (pidfd_ >= 0) close(pidfd_);
}

Status Process::resume(bool is_held) {
  if (!is_stopped_) return {};
  is_stopped_ = false;
  if (is_held || ptrace(PTRACE_DETACH, pid_, 0, 0) == 0 || has_exited()) return {};
  return Error{fmt::format("failed to resume process {}: {}", pid_, std::strerror(errno))};
}

bool Process::has_exited() {
  if (has_exited_ || pidfd_ < 0) return has_exited_;
  pollfd fd{pidfd_, POLLIN, 0};
  if (::poll(&fd, 1, 0) != 1) return false;
  if (is_child_) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG | __WALL) != pid_ || !(WIFEXITED(status) || WIFSIGNALED(status))) return false;
    exit_status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  has_exited_ = true;
  return true;
}

void Process::kill() {
  if (!is_child_ || has_exited()) return;
  is_stopped_ = false;
  // Only until it is reaped does the pid belong to the child for certain; has_exited() has just said that it is not.
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, __WALL) == pid_ ? WIFSTOPPED(status) : errno == EINTR) {
  }
  has_exited_ = true;
  exit_status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace dvm::runtime
