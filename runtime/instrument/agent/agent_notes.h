#pragma once
// Notices about a process that an agent traces.

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/agent/agent_site.h"
#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

std::string crash_text(pid_t pid);
std::string kept_text(pid_t pid, std::string_view why);  // jumps that could not be taken off
std::string left_text(pid_t pid);
// Probes over instructions whose faults the process handles.
std::string yielded_text(pid_t pid, std::string_view function, size_t count);
// Probes on whose jumps another tool has placed a uprobe. leaves: or on a function that has to be watched.
std::string disturbed_text(pid_t pid, std::string_view function, size_t count, bool leaves);
std::string unsteady_text(pid_t pid, std::string_view why);  // its heap, to clauses that read it
std::string emptied_text(pid_t pid);                         // thread-local variables
// Firings that are lost because probes were placed again late, or not before the process continued. Empty: none.
std::string renewal_text(pid_t pid, std::span<const EnabledProbe> probes, std::span<const Refused> refused, const Status& placed,
                         bool is_held);
// Programs that it has executed, as far as dvm has noticed, and that were not held.
std::string missed_text(pid_t pid, unsigned programs);
std::string ended_text(pid_t pid);                         // when it was about to execute a program
std::string unheld_text(pid_t pid, std::string_view why);  // programs that it may execute, and libraries
// Why libraries that a process opens are noticed late.
inline constexpr std::string_view kUnwatchedLinker =
    "its dynamic linker cannot be watched, because another tracer has changed it or its code does not permit it; dvm looks for "
    "new files every 50 ms, and earlier firings in them are lost";
std::string unwatched_text(pid_t pid);
std::string late_text(pid_t pid, std::string_view function);
inline constexpr const char* kGivenUp =
    "a followed process executed a program with a file in which an agent had probes; uprobes have replaced all probes of the "
    "agent, and firings in the meantime are lost";
inline constexpr const char* kFollowsNoPrograms =
    "programs that children execute, and libraries that they open, are not traced, because BPF is not permitted";
// Notes what stubs leave out that may not make system calls: a filter could end the process for one that it does not expect.
void tell_muted(pid_t pid, std::span<const AgentSite> sites, bool follows, std::vector<std::string>& notes);

}  // namespace dvm::runtime
