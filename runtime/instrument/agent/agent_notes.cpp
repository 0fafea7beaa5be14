#include "runtime/instrument/agent/agent_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/instrument/agent/record_program.h"
#include "runtime/process/process.h"

namespace dvm::runtime {
namespace {

std::string unrenewed_text(pid_t pid, std::string_view function, std::string_view why) {
  return fmt::format(
      "process {}: its probes, such as {}, could not be enabled before it continued: {}; firings until they are enabled again "
      "are lost, which is reported once",
      pid, function, why);
}

}  // namespace

std::string crash_text(pid_t pid) {
  return fmt::format(
      "process {} ended by a fault while an agent had jumps in its code; if it does not fault untraced, use -x backend=uprobe "
      "or -x backend=breakpoint, which map no memory into it",
      pid);
}

std::string kept_text(pid_t pid, std::string_view why) {
  return fmt::format(
      "process {} keeps its probes, which do nothing any more: {}; dvm-guard tries for some seconds to remove them, and "
      "'dvm detach -p {}' can do so later",
      pid, why, pid);
}

std::string left_text(pid_t pid) {
  return fmt::format(
      "process {}: its probes were removed, because it unmapped or protected memory that the agent needs, made probed code "
      "writable, began to serve page faults (userfaultfd), locked its memory (mlockall), or forbade itself to read the "
      "time-stamp counter",
      pid);
}

std::string yielded_text(pid_t pid, std::string_view function, size_t count) {
  return fmt::format(
      "process {}: {} {} removed, such as {}, because the process now handles faults or protects data of its files, and an "
      "instruction under the jump of an agent may fault",
      pid, count, count == 1 ? "probe was" : "probes were", function);
}

std::string disturbed_text(pid_t pid, std::string_view function, size_t count, bool leaves) {
  return fmt::format(
      "process {}: {} {} removed, such as {}, because another tool has placed a uprobe on {}; if uprobes or breakpoints can "
      "replace them, they do, and firings in the meantime are lost",
      pid, count, count == 1 ? "probe was" : "probes were", function,
      leaves ? "a function that the agent has to watch" : "the jump of an agent");
}

std::string emptied_text(pid_t pid) {
  return fmt::format(
      "process {}: its thread-local variables were reset, because a clause on a probe that was added later uses them in dvm",
      pid);
}

std::string unsteady_text(pid_t pid, std::string_view why) {
  return fmt::format("process {}: memory was read by system calls from some time on: {}", pid, why);
}

std::string renewal_text(pid_t pid, std::span<const EnabledProbe> probes, std::span<const Refused> refused, const Status& placed,
                         bool is_held) {
  const std::string& function = probes.front().probe->function;
  if (is_held && (!placed || !refused.empty()))
    return is_gone(pid) ? "" : unrenewed_text(pid, function, placed ? refused.front().reason : placed.error().message);
  if (is_held || !placed || refused.size() == probes.size()) return "";
  return fmt::format(
      "process {}: its probes, such as {}, are enabled again after it executed another program or mapped their file again; "
      "firings in the milliseconds before are lost, which is reported once",
      pid, function);
}

std::string missed_text(pid_t pid, unsigned programs) {
  if (programs > 1)
    return fmt::format(
        "process {} has executed at least {} programs that could not be held; firings before their probes are enabled are lost",
        pid, programs);
  return fmt::format("process {} has executed a program that could not be held; firings before its probes are enabled are lost",
                     pid);
}

std::string ended_text(pid_t pid) {
  return fmt::format(
      "process {} has ended after it was about to execute a program, which could not be held; if that program has run, its "
      "firings are lost",
      pid);
}

std::string unheld_text(pid_t pid, std::string_view why) {
  return fmt::format(
      "process {}: programs that it executes and libraries that it opens cannot be held, and their first firings are lost: {}",
      pid, why);
}

std::string unwatched_text(pid_t pid) {
  return fmt::format("libraries that process {} opens are not noticed in time: {}", pid, kUnwatchedLinker);
}

std::string late_text(pid_t pid, std::string_view function) {
  return fmt::format(
      "process {}: probes of files that it mapped later, such as {}, are enabled some milliseconds after that; firings in these "
      "milliseconds are lost, which is reported once",
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
