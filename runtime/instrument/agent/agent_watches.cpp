// Functions of the C library that an agent watches. Covered by tests/runtime/scenarios/test_agent.py.

#include <sys/uio.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "runtime/agent/inside/memory_calls.h"
#include "runtime/agent/unfit_sites.h"
#include "runtime/instrument/agent/agent_planner.h"
#include "runtime/instrument/agent/refused_once.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr std::string_view kNotWatched = "it cannot be watched";

inside::Watch watch_of(std::string_view function) {
  static const std::map<std::string_view, inside::Watch> kWatched = {
#define DVM_WATCHED(name) {#name, inside::Watch::name}
      DVM_WATCHED(prctl),
      DVM_WATCHED(clone),
      DVM_WATCHED(syscall),
      DVM_WATCHED(arch_prctl),
      DVM_WATCHED(sigaction),
      DVM_WATCHED(mlockall),
#undef DVM_WATCHED
#define DVM_MEMORY_FUNCTION(function, call, presence) {#function, inside::Watch::function},
#include "runtime/agent/inside/memory_functions.def"
      {"execve", inside::Watch::exec},
      {"execveat", inside::Watch::exec},
      {"fexecve", inside::Watch::exec},
      {"_Unwind_Find_FDE", inside::Watch::unwind},
      {"_dl_debug_state", inside::Watch::load},
  };
  const auto found = kWatched.find(function);
  return found == kWatched.end() ? inside::Watch::nothing : found->second;
}

// Where there are uprobes, these wait in the kernel.
bool is_of_uprobes(inside::Watch watch) { return watch == inside::Watch::exec || watch == inside::Watch::load; }

// Functions in which a child begins behind the first system call.
bool forks(std::string_view function) { return function == "_Fork" || function == "fork"; }

// Memory that a child reserves counts, whatever it asks for. Taking some in place of other may then fail half-way.
bool is_memory_counted() {
  int policy = 0;
  std::ifstream("/proc/sys/vm/overcommit_memory") >> policy;
  return policy == 2;
}

}  // namespace

// The functions of the C library by which a process restricts its system calls, or takes away memory of dvm's. They come first.
// Where they are not found or cannot be watched, the records that need system calls are not made.
void AgentPlanner::add_watches(pid_t pid, std::vector<AgentPlannedSite>& sites) {
  const bool watches_forks = !is_memory_counted();
  for (const MappedObject& object : objects_[pid]) {
    const auto elf = object.address != 0 ? elfs_.read(object.open_path) : Error{""};
    if (!elf) continue;
    for (const ElfFunction& function : (*elf)->functions()) {
      inside::Watch watch = watch_of(function.name);
      if (is_of_uprobes(watch) && !by_breakpoints_) watch = inside::Watch::nothing;
      const bool is_fork = forks(function.name) && watches_forks;
      if ((watch == inside::Watch::nothing && !is_fork) || function.is_indirect) continue;
      UprobeSite site{object.open_path, function.offset, false, pid};
      site.size = function.size;
      site.alone = function.alone;
      if (is_fork)
        add_fork_watch(site, sites);
      else if (watch == inside::Watch::load && has_other_tracer(site))
        add_linker_watches(site, sites);
      else if (!add_watch(site, watch, sites) && inside::watches_memory(watch))
        unwatched_.insert(pid);
    }
  }
}

// Uprobes take all probes of a process in which they take one where the agent would have to watch.
void AgentPlanner::refuse_unwatched(PlannedProcesses& planned, std::vector<Refused>& refused) {
  RefusedOnce once(refused);
  for (const pid_t pid : std::exchange(unwatched_, {}))
    if (const auto found = planned.extract(pid); found)
      for (const AgentPlannedSite& site : found.mapped())
        once.add(site, "a uprobe lies in a function that the agent would have to watch");
}

std::vector<AgentPlannedSite> AgentPlanner::late_unwinders(pid_t pid) {
  std::vector<AgentPlannedSite> sites;
  auto objects = mapped_objects(pid);
  if (!objects) return sites;
  forget_files();
  objects_[pid] = *std::move(objects);
  const std::set<std::pair<pid_t, uint64_t>> known = unwinders_;
  add_watches(pid, sites);
  std::erase_if(sites, [&](const AgentPlannedSite& one) {
    return one.site.watch != inside::Watch::unwind || !one.site.refusal.empty() || known.contains({pid, one.site.window_address});
  });
  return sites;
}

std::vector<AgentPlannedSite> AgentPlanner::watches_of(pid_t pid) {
  std::vector<AgentPlannedSite> sites;
  forget_files();
  if (auto found = mapped_objects(pid)) objects_[pid] = std::move(*found);
  add_watches(pid, sites);
  const bool sees_execs = std::any_of(sites.begin(), sites.end(), [](const AgentPlannedSite& one) {
    return one.site.watch == inside::Watch::exec && one.site.refusal.empty();
  });
  return sees_execs ? sites : std::vector<AgentPlannedSite>();
}

void AgentPlanner::add_fork_watch(UprobeSite site, std::vector<AgentPlannedSite>& sites) {
  Candidate candidate{.site = &site};
  if (!locate(candidate).empty()) return;
  for (const MachineInstruction& one : decode(candidate).instructions) {
    if (one.flow != Flow::elsewhere) continue;
    site.offset += one.offset + one.length;
    site.inside.emplace();
    add_watch(site, inside::Watch::fork, sites);
    return;
  }
}

// In the function by which the dynamic linker reports files: a uprobe of another dvm that follows forks, or another agent.
bool AgentPlanner::has_other_tracer(const UprobeSite& linker) {
  Candidate candidate{.site = &linker};
  if (!locate(candidate).empty()) return false;
  const std::pair<pid_t, uint64_t> place(linker.pid, candidate.address);
  const CodeBytes known = candidate.code->bytes(candidate.function.offset, 1);
  unsigned char byte = 0;
  const iovec to{&byte, 1}, from{reinterpret_cast<void*>(candidate.address), 1};
  const bool is_read = !known.empty() && process_vm_readv(linker.pid, &to, 1, &from, 1, 0) == 1;
  if (is_read && byte == known[0]) linkers_.insert(place);
  return is_read && byte != known[0] && !linkers_.contains(place);
}

// Behind each call of that function instead, all or none. One that cannot be watched beside another in its function is left
// out with that: such functions close libraries, or have mapped the first files of the program.
void AgentPlanner::add_linker_watches(const UprobeSite& linker, std::vector<AgentPlannedSite>& sites) {
  const auto code = file_at(linker.path).code;
  if (code == nullptr) return;
  std::map<uint64_t, std::vector<AgentPlannedSite>> by_function;
  for (const uint64_t offset : code->calls_of(linker.offset)) {
    UprobeSite behind{linker.path, offset + kJumpBytes, false, linker.pid};
    behind.inside.emplace();
    Candidate candidate{.site = &behind};
    if (!locate(candidate).empty()) candidate.function = {};
    std::vector<AgentPlannedSite>& its = by_function[candidate.function.offset];
    add_watch(behind, inside::Watch::load, its);
    const AddressRange range = its.front().site.range();
    const bool overlaps = std::any_of(sites.begin(), sites.end(), [&](const AgentPlannedSite& one) {
      return one.site.range().begin < range.end && range.begin < one.site.range().end;
    });
    if (overlaps || code->is_entered({{behind.offset, kJumpBytes, 0}, behind.offset + kJumpBytes - 1}))
      its.front().site.refusal = kNotWatched;
  }
  for (auto& [function, its] : by_function) {
    const bool is_refused = std::any_of(its.begin(), its.end(), [](const auto& one) { return !one.site.refusal.empty(); });
    if (is_refused && its.size() > 1) continue;
    for (AgentPlannedSite& one : its) {
      one.site.function = linker.offset;  // one group
      one.site.raises = 0;                // the linker's own data is always there
      sites.insert(sites.begin(), std::move(one));
    }
  }
}

// By faults of the instructions that would run from a copy.
SignalSet AgentPlanner::signals_of(const Candidate& one) {
  const CodeBytes function = one.code->bytes(one.function.offset, one.function.size);
  return raised_signals(function, decode(one), one.window.begin, one.window.begin + one.window.copied);
}

// Handlers that are installed later are watched for, but not in children.
void AgentPlanner::refuse_raising() {
  std::map<pid_t, SignalSet> handled;
  for (Candidate& one : candidates_) {
    if (!one.refusal.empty()) continue;
    const auto [signals, is_new] = handled.try_emplace(one.site->pid);
    if (is_new) signals->second = follows_ ? kAllSignals : handled_signals(one.site->pid) & ~kFileData;
    if ((signals_of(one) & signals->second) != 0) one.refusal = follows_ ? kRaisesInChild : kRaises;
  }
}

// Debug registers change no code, so a breakpoint may lie on the entry of a function, or where it returns to, beside an agent's
// jumps. An instruction inside of the function may have been displaced by one.
bool AgentPlanner::may_mix_with(const Probe& probe) const {
  return by_breakpoints_ && (probe.name == "entry" || probe.name == "return");
}

std::vector<AgentSite> AgentPlanner::bare_watches(std::span<const AgentPlannedSite> planned) const {
  std::vector<AgentSite> found;
  if (!by_breakpoints_) return found;
  for (const AgentPlannedSite& watched : planned) {
    if (watched.site.watch == inside::Watch::nothing || watched.probes.empty()) continue;
    const bool mixes = std::all_of(planned.begin(), planned.end(), [&](const AgentPlannedSite& one) {
      return one.site.function != watched.site.function ||
             std::all_of(one.probes.begin(), one.probes.end(), [&](const Probe* probe) { return may_mix_with(*probe); });
    });
    if (!mixes) continue;
    AgentSite& bare = found.emplace_back(watched.site);
    bare.firers.clear();
    bare.semaphores.clear();
    bare.function = 0;
    bare.is_spare = true;
  }
  return found;
}

// By any of its names.
bool AgentPlanner::is_watched(const Candidate& function) const {
  if (function.elf == nullptr) return false;
  const auto& all = function.elf->functions();
  return std::any_of(all.begin(), all.end(), [&](const ElfFunction& one) {
    if (one.offset != function.function.offset || one.is_indirect) return false;
    const inside::Watch watch = watch_of(one.name);
    return forks(one.name) || (watch != inside::Watch::nothing && (by_breakpoints_ || !is_of_uprobes(watch)));
  });
}

// Whatever places the probe instead leaves jumps in this function alone.
bool AgentPlanner::may_mix(const Candidate& refused) const {
  return refused.refusal == kLeavesToWatched || may_mix_with(*refused.enabled->probe);
}

// Probes of the function that others place, where no jump may lie.
bool AgentPlanner::has_refused(const Candidate& function) const {
  return std::any_of(candidates_.begin(), candidates_.end(), [&](const Candidate& one) {
    return !one.refusal.empty() && !may_mix(one) && one.site->pid == function.site->pid && one.address == function.address;
  });
}

// One that only returns has padding behind it.
std::string_view AgentPlanner::fill_watched(Candidate& candidate) {
  const std::string_view refusal = fill(candidate);
  if (refusal.empty() || candidate.function.size >= kJumpBytes) return refusal;
  const std::string_view of_exit = fill_exit(candidate);
  return candidate.relays.empty() ? of_exit : refusal;
}

// False: a uprobe will lie in the function.
bool AgentPlanner::add_watch(const UprobeSite& site, inside::Watch watch, std::vector<AgentPlannedSite>& sites) {
  Candidate candidate{.site = &site};
  const auto refuse = [&] {
    AgentPlannedSite refused;
    refused.site.watch = watch;
    refused.site.refusal = kNotWatched;
    sites.insert(sites.begin(), std::move(refused));
    return true;
  };
  if (!locate(candidate).empty() || !fill_watched(candidate).empty()) return refuse();
  if (has_refused(candidate)) return refuse() && by_breakpoints_;
  const auto known = std::find_if(sites.begin(), sites.end(), [&](const AgentPlannedSite& one) {
    return one.site.window_address == candidate.window_address();
  });
  if (known != sites.end() && !known->site.is_conditional) {
    known->site.watch = watch;
    return true;
  }
  const AddressRange range{candidate.window_address(), candidate.window_address() + candidate.window.length};
  const auto overlaps = [&](const AgentPlannedSite& one) {
    return one.site.range().begin < range.end && range.begin < one.site.range().end;
  };
  if (std::any_of(sites.begin(), sites.end(), overlaps)) return refuse();
  sites.insert(sites.begin(), AgentPlannedSite{site_of(candidate), {}});
  sites.front().site.watch = watch;
  if (watch == inside::Watch::unwind) unwinders_.emplace(site.pid, candidate.window_address());
  return true;
}

}  // namespace dvm::runtime
