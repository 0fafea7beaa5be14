// Tested by tests/unit/agent/stopped_process_test.cpp and tests/runtime/agent.

#include "runtime/agent/stopped_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "common/clock.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kStopsWithin = 300'000'000;  // ns
constexpr uint64_t kRunsWithin = 3'000'000'000;
constexpr useconds_t kPause = 50;
constexpr int64_t kRestart = 512, kRestartNoInterrupt = 513, kRestartNoHandler = 514,
                  kRestartBlock = 516;  // errors of the kernel
constexpr uint64_t kRestartSyscall = 219, kSyscallBytes = 2, kPpoll = 271;

std::string status_field(pid_t pid, pid_t tid, std::string_view name) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/status", pid, tid));
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name)) return line.substr(std::min(line.find_first_not_of(" \t", name.size()), line.size()));
  return {};
}

uint64_t signals(pid_t pid, pid_t tid, std::string_view name) {
  return std::strtoull(status_field(pid, tid, name).c_str(), nullptr, 16);
}

bool has_signal(pid_t pid, pid_t tid) {
  const uint64_t pending = signals(pid, tid, "SigPnd:") | signals(pid, tid, "ShdPnd:");
  return (pending & ~signals(pid, tid, "SigBlk:")) != 0;
}

bool is_over(pid_t pid, pid_t tid) {
  const std::string state = status_field(pid, tid, "State:");
  return state.empty() || state[0] == 'Z' || state[0] == 'X';
}

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), error))
    if (const int tid = std::atoi(entry.path().filename().c_str()); tid > 0) found.push_back(tid);
  return found;
}

std::string hold_problem(pid_t pid, pid_t tid) {
  if (const std::string tracer = status_field(pid, tid, "TracerPid:"); !tracer.empty() && tracer != "0")
    return fmt::format("process {} traces it already (a debugger?)", tracer);
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  if (scope > 0)
    return fmt::format(
        "kernel.yama.ptrace_scope is {}, which lets users trace only what they start, as with -c: it must be 0, or dvm "
        "must have CAP_SYS_PTRACE",
        scope);
  return "it is another user's, or runs with more rights than its user: that needs CAP_SYS_PTRACE";
}

std::vector<pid_t>& stragglers() {
  static std::vector<pid_t> waiting;
  return waiting;
}

// A signal that a straggler was about to take is not lost.
bool is_released(pid_t tid) {
  int status = 0;
  const pid_t found = waitpid(tid, &status, __WALL | WNOHANG);
  if (found == 0) return false;
  if (found == tid && WIFSTOPPED(status)) ptrace(PTRACE_DETACH, tid, 0, status >> 16 == 0 ? WSTOPSIG(status) : 0);
  return true;
}


}  // namespace dvm::runtime
