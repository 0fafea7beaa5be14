// Tested by tests/unit/instrument/process_test.cpp and tests/runtime/scenarios/test_unprivileged.py.

#include "runtime/process/thread_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "common/clock.h"

namespace dvm::runtime {
namespace {

std::string field_of(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name)) return line.substr(std::min(line.find_first_not_of(" \t", name.size()), line.size()));
  return {};
}

}  // namespace

std::vector<pid_t> threads_of(pid_t pid) {
  std::vector<pid_t> found;
  std::error_code error;
  for (std::filesystem::directory_iterator one(fmt::format("/proc/{}/task", pid), error), end; !error && one != end;
       one.increment(error))
    if (const int tid = std::atoi(one->path().filename().c_str()); tid > 0) found.push_back(tid);
  return found;
}

std::string status_field(pid_t tid, std::string_view name) { return field_of(fmt::format("/proc/{}/status", tid), name); }

std::string status_field(pid_t pid, pid_t tid, std::string_view name) {
  return field_of(fmt::format("/proc/{}/task/{}/status", pid, tid), name);
}

// A kernel with PID namespaces lists one for each, from dvm's down to that of the thread.
bool is_own_child(pid_t tid) { return status_field(tid, "PPid:") == std::to_string(getpid()); }

pid_t own_id(pid_t pid, pid_t tid) {
  std::istringstream ids(status_field(pid, tid, "NSpid:"));
  pid_t own = tid;
  for (pid_t id = 0; ids >> id;) own = id;
  return own;
}

bool has_own_ids(pid_t pid) {
  std::istringstream ids(status_field(pid, "NSpid:"));
  pid_t dvms = 0, next = 0;
  return static_cast<bool>(ids >> dvms >> next);
}

uint64_t run_time(pid_t tid) {
  uint64_t ns = 0;
  return std::ifstream(fmt::format("/proc/{}/schedstat", tid)) >> ns ? ns : read_clock(CLOCK_MONOTONIC);
}

uint64_t handled_signals(pid_t pid) {
  const std::string field = status_field(pid, "SigCgt:");
  return field.empty() ? ~uint64_t{0} : std::strtoull(field.c_str(), nullptr, 16);
}

std::string memory_folder(pid_t pid) {
  const std::string own = fmt::format("/proc/{}", pid);
  if (!status_field(pid, "State:").starts_with('Z')) return own;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(own + "/task", error))
    if (const std::string state = field_of(entry.path() / "status", "State:");
        !state.empty() && state[0] != 'Z' && state[0] != 'X')
      return entry.path();
  return own;
}

std::string hold_problem(pid_t tid) {
  if (const std::string tracer = status_field(tid, "TracerPid:"); !tracer.empty() && tracer != "0")
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

}  // namespace dvm::runtime
