// Grabbing and watching a process. Covered by tests/unit/instrument/process_test.cpp.

#include "runtime/process/process.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "runtime/process/reaped.h"
#include "runtime/process/target_memory.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

int open_pidfd(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

std::string name_of(pid_t pid) {
  std::ifstream comm(fmt::format("/proc/{}/comm", pid));
  std::string name;
  std::getline(comm, name);
  return name;
}

Ending ending_of(int status) { return WIFEXITED(status) ? Ending{WEXITSTATUS(status), 0} : Ending{0, WTERMSIG(status)}; }

// Exit information that Linux 6.15 and later keep for a process whose parent has waited for it. Headers may be older.
std::optional<Ending> reaped_ending(int pidfd) {
  struct Info {
    uint64_t mask, group;
    uint32_t pid, tgid, parent, ids[8];
    int32_t status;
  };
  constexpr uint64_t kExit = 1 << 3;
  Info info{};
  info.mask = kExit;
  if (ioctl(pidfd, _IOWR(0xFF, 11, Info), &info) != 0 || (info.mask & kExit) == 0) return std::nullopt;
  return ending_of(info.status);
}

bool is_reaped(pid_t pid, int& status) {
  const pid_t found = waitpid(pid, &status, __WALL | WNOHANG);
  return found == pid ? !WIFSTOPPED(status) : found < 0 && errno != EINTR;
}

// A process ends after its last thread, and one that dvm still traces is there until dvm has waited for it.
void reap_other_threads(pid_t pid) {
  for (const pid_t tid : threads_of(pid))
    if (tid != pid) waitpid(tid, nullptr, __WALL | WNOHANG);
}

// The state, whether it has begun to exit, and the status as waitpid() gives it, from /proc/PID/stat or that of a thread; the
// name before them may hold anything.
struct ProcessState {
  char state = 0;
  bool exits = false;
  int status = 0;
};
std::optional<ProcessState> state_of(const std::string& folder) {
  constexpr int kFieldsToFlags = 5, kFieldsBetween = 42;
  constexpr unsigned kExiting = 4;  // PF_EXITING
  std::ifstream file(folder + "/stat");
  std::string text;
  std::getline(file, text, '\0');  // does not throw if the process is gone by now, as an iterator does
  std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
  ProcessState found;
  if (!(fields >> found.state)) return std::nullopt;
  std::string skipped;
  for (int i = 0; i < kFieldsToFlags; i++) fields >> skipped;
  unsigned flags = 0;
  fields >> flags;
  found.exits = (flags & kExiting) != 0 || found.state == 'X';
  for (int i = 0; i < kFieldsBetween; i++) fields >> skipped;
  fields >> found.status;
  return found;
}
std::optional<ProcessState> state_of(pid_t pid) { return state_of(fmt::format("/proc/{}", pid)); }

// For a process whose parent has not waited for it yet.
std::optional<Ending> waiting_ending(pid_t pid) {
  const auto state = state_of(pid);
  return state && state->state == 'Z' ? std::optional(ending_of(state->status)) : std::nullopt;
}

constexpr std::string_view kHasExited = "it has exited";

// EINVAL, since Linux 6.11 ENOENT: the id of a thread that is not the first of its process.
std::string watch_problem(pid_t pid, int error) {
  const std::string process = status_field(pid, "Tgid:");
  if (!process.empty() && process != std::to_string(pid)) return fmt::format("it is a thread of process {}", process);
  return error == ESRCH || error == EINVAL || error == ENOENT ? "no such process" : std::strerror(error);
}

Error cannot_grab(pid_t pid, std::string_view why) { return Error{fmt::format("failed to grab process {}: {}", pid, why)}; }

// The first number is that of its user.
std::string_view permission_problem(pid_t pid) {
  if (geteuid() == 0) return "permission denied (this container or sandbox withholds it from root)";
  const std::string users = status_field(pid, "Uid:");
  if (users.substr(0, users.find('\t')) != std::to_string(getuid()))
    return "permission denied (it is another user's: that needs root or CAP_SYS_PTRACE)";
  return "permission denied (it has more rights than its user, or is not dumpable (PR_SET_DUMPABLE): that needs root or "
         "CAP_SYS_PTRACE)";
}

// A process of another user, or one that runs with more rights than its user, is root's affair. Being allowed to see its maps is
// the kernel's own word on that.
bool may_trace(pid_t pid) { return std::ifstream(fmt::format("/proc/{}/maps", pid)).good(); }

}  // namespace

std::string describe_ending(pid_t pid, const std::optional<Ending>& ending) {
  if (!ending || (ending->signal == 0 && ending->status == 0)) return fmt::format("pid {} has exited", pid);
  if (ending->signal == 0) return fmt::format("pid {} exited with status {}", pid, ending->status);
  const char* name = sigabbrev_np(ending->signal);
  return name != nullptr ? fmt::format("pid {} terminated by SIG{}", pid, name)
                         : fmt::format("pid {} terminated by signal {}", pid, ending->signal);
}

bool has_lost_first_thread(pid_t pid) {
  const std::string threads = status_field(pid, "Threads:");
  return status_field(pid, "State:").starts_with('Z') && threads != "1" && !threads.empty();
}

bool is_gone(pid_t pid) {
  const auto exits = [](const std::string& folder) {
    const auto state = state_of(folder);
    return state ? state->exits : access(folder.c_str(), F_OK) != 0;  // dvm may be out of file descriptors
  };
  const std::string first = fmt::format("/proc/{}", pid);
  if (!exits(first)) return false;
  const std::vector<pid_t> threads = threads_of(pid);
  const auto has_ended = [&](pid_t tid) { return exits(fmt::format("{}/task/{}", first, tid)); };
  // Another thread that executes a program takes over the number of the first one, perhaps just now.
  return std::all_of(threads.begin(), threads.end(), has_ended) && exits(first);
}

Result<Process> Process::grab(pid_t pid) {
  if (pid <= 0) return cannot_grab(pid, "no such process");
  if (pid == getpid()) return cannot_grab(pid, "dvm cannot trace itself");
  Process process;
  process.pid_ = pid;
  process.pidfd_ = open_pidfd(pid);
  if (process.pidfd_ < 0) return cannot_grab(pid, watch_problem(pid, errno));
  if (process.has_exited()) return cannot_grab(pid, kHasExited);
  if (has_lost_first_thread(pid)) return cannot_grab(pid, kLostFirstThread);
  if (!may_trace(pid)) return cannot_grab(pid, permission_problem(pid));
  process.name_ = name_of(pid);
  return process;
}

Result<Process> Process::spawn(const std::vector<std::string>& words, const Environment& environment, const StartPoint& point) {
  auto pid = start_stopped(words, environment, point);
  if (!pid) return pid.error();
  Process process;
  process.pid_ = *pid;
  keep_status(*pid);
  process.is_child_ = process.is_stopped_ = true;
  process.pidfd_ = open_pidfd(*pid);
  if (process.pidfd_ < 0) return Error{fmt::format("failed to watch process {}: {}", *pid, std::strerror(errno))};
  process.name_ = name_of(*pid);
  return process;
}

Result<Process> Process::spawn(std::string_view command, const Environment& environment, const StartPoint& point) {
  auto words = split_command(command);
  if (!words) return Error{fmt::format("failed to execute '{}': {}", command, words.error().message)};
  return spawn(*words, environment, point);
}

Process::Process(Process&& other) noexcept { *this = std::move(other); }

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  std::swap(is_child_, other.is_child_);
  std::swap(is_stopped_, other.is_stopped_);
  std::swap(has_exited_, other.has_exited_);
  std::swap(ending_, other.ending_);
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
    const pid_t found = waitpid(pid_, &status, WNOHANG | __WALL);
    const bool is_waited_for = found < 0 && errno == ECHILD;  // by an agent, when it held the threads
    if (!is_waited_for && (found != pid_ || WIFSTOPPED(status))) return false;
    const auto kept = take_status(pid_);
    if (!is_waited_for || kept) ending_ = ending_of(kept.value_or(status));
    if (!ending_) ending_ = reaped_ending(pidfd_);
  }
  has_exited_ = true;
  return true;
}

std::optional<Ending> Process::ending() {
  if (!has_exited() || is_child_ || ending_) return ending_;
  if (auto reaped = reaped_ending(pidfd_)) return ending_ = reaped;
  return ending_ = waiting_ending(pid_);
}

void Process::kill() {
  constexpr int kPause = 1;  // ms
  if (!is_child_ || has_exited()) return;
  is_stopped_ = false;
  // Only until it is reaped does the pid belong to the child for certain; has_exited() has just said that it is not.
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (!is_reaped(pid_, status)) {
    reap_other_threads(pid_);
    pollfd fd{pidfd_, POLLIN, 0};
    ::poll(&fd, 1, kPause);
  }
  has_exited_ = true;
  ending_ = ending_of(take_status(pid_).value_or(status));
}

}  // namespace dvm::runtime
