#include "runtime/instrument/agent/agent_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/instrument/agent/record_program.h"

namespace dvm::runtime {

std::string crash_text(pid_t pid) {
  return fmt::format(
      "process {} ended by a fault while jumps of an agent lay in its code; if it does not without dvm, it may have unmapped "
      "memory of dvm's by a system call of its own: -x backend=uprobe and -x backend=breakpoint add none",
      pid);
}

std::string kept_text(pid_t pid, std::string_view why) {
  return fmt::format(
      "process {} keeps its probes, which do nothing any more: {}; dvm-guard tries for some seconds to take them off, and "
      "'dvm detach -p {}' does it later",
      pid, why, pid);
}

std::string left_text(pid_t pid) {
  return fmt::format(
      "process {}: its probes were taken off, since it took away memory that the agent needs, or forbade itself to read the "
      "time-stamp counter",
      pid);
}

std::string yielded_text(pid_t pid, std::string_view function, size_t count) {
  return fmt::format(
      "process {}: {} {} taken off, such as {}, since it has begun to handle faults or to protect data of its files, and an "
      "instruction that may fault lies under the jump of an agent",
      pid, count, count == 1 ? "probe was" : "probes were", function);
}

std::string emptied_text(pid_t pid) {
  return fmt::format(
      "process {}: its thread-local variables are empty again, since a probe that came late has a clause which needs them in dvm",
      pid);
}

std::string renewed_text(pid_t pid, std::string_view function) {
  return fmt::format(
      "process {}: its probes, such as {}, are on again after it has executed another program or mapped their file again; what "
      "fired in the milliseconds before is lost, now and each time",
      pid, function);
}

std::string late_text(pid_t pid, std::string_view function) {
  return fmt::format(
      "process {}: probes of files that it has mapped late, such as {}, are on some milliseconds after that; what fired before "
      "is lost, now and each time",
      pid, function);
}

void tell_muted(pid_t pid, std::span<const AgentSite> sites, bool follows, std::vector<std::string>& notes) {
  const bool makes_calls = std::any_of(sites.begin(), sites.end(), [](const AgentSite& site) {
    return std::any_of(site.firers.begin(), site.firers.end(),
                       [](const AgentFirer& firer) { return record_makes_calls(firer.program); });
  });
  if (follows)
    notes.push_back(
        fmt::format("process {}: its children are not followed, because the functions prctl and syscall of its C "
                    "library, which may restrict its system calls, cannot be watched",
                    pid));
  if (makes_calls)
    notes.push_back(
        fmt::format("process {}: firings that capture memory, execname, uid, gid, ppid or vtimestamp are dropped, because the "
                    "functions prctl and syscall of its C library, which may restrict its system calls, cannot be watched",
                    pid));
}

}  // namespace dvm::runtime
