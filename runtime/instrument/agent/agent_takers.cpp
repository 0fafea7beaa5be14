// System calls by which a process may take away memory that clauses read by plain loads (inside/steady.h). Covered by
// tests/runtime/scenarios/test_agent_heap.py.

#include <algorithm>
#include <utility>

#include "runtime/agent/inside/memory_calls.h"
#include "runtime/instrument/agent/agent_planner.h"
#include "runtime/instrument/agent/memory_callers.h"

namespace dvm::runtime {
namespace {

constexpr std::string_view kUnseenCall = "a system call that may unmap memory cannot be watched";
constexpr std::string_view kLateCalls = "code that it has mapped makes system calls that may unmap memory";

}  // namespace

// Sites before and behind all of them, or none. Only for clauses that read memory.
void AgentPlanner::add_takers(pid_t pid, std::vector<AgentPlannedSite>& sites) {
  const bool is_read = std::any_of(sites.begin(), sites.end(), [](const auto& one) { return reads_memory(one.site); });
  if (!is_read || unsteady_.contains(pid)) return;
  std::string& reason = unsteady_[pid];
  if (follows_) return void(reason = "its children are followed");
  const auto mappings = mappings_of(pid);
  if (!mappings) return void(reason = mappings.error().message);
  const MemoryCallers callers = find_memory_callers(pid, *mappings, *files_, own_[pid]);
  reason = callers.unproven;
  for (const MemoryCaller& one : callers.all)
    if (reason.empty() && !add_taker(pid, one, sites)) reason = kUnseenCall;
  for (const MemoryCaller& one : callers.all) takers_.emplace(pid, one.path, one.begin);
  if (reason.empty()) return;
  std::erase_if(sites, [](const AgentPlannedSite& one) {
    return one.site.taking != inside::Taking::nothing && one.site.watch == inside::Watch::nothing && one.probes.empty();
  });
  for (AgentPlannedSite& one : sites) one.site.taking = inside::Taking::nothing;
}

void AgentPlanner::forget(const std::set<pid_t>& pids) {
  for (const pid_t pid : pids) {
    own_.erase(pid), unsteady_.erase(pid);
    std::erase_if(takers_, [&](const auto& one) { return std::get<pid_t>(one) == pid; });
  }
}

std::string AgentPlanner::begin_steady(AgentProcess& agent) {
  own_[agent.pid()] = agent.own_ranges();
  const auto known = unsteady_.find(agent.pid());
  if (known == unsteady_.end() || !known->second.empty()) return why_by_calls(agent.pid());
  known->second = agent.begin_steady([this, &agent](const std::vector<MemoryMapping>& all) { return unwatched_in(agent, all); });
  return known->second;
}

// Code that it maps later may make no such call.
std::string AgentPlanner::unwatched_in(const AgentProcess& agent, const std::vector<MemoryMapping>& mappings) {
  const pid_t pid = agent.pid();
  std::string& reason = unsteady_[pid];
  const MemoryCallers callers = find_memory_callers(pid, mappings, *files_, agent.own_ranges());
  const auto is_watched = [&](const MemoryCaller& one) { return takers_.contains({pid, one.path, one.begin}); };
  if (reason.empty()) reason = callers.unproven;
  if (reason.empty() && !std::all_of(callers.all.begin(), callers.all.end(), is_watched)) reason = kLateCalls;
  return reason;
}

bool AgentPlanner::add_taker(pid_t pid, const MemoryCaller& call, std::vector<AgentPlannedSite>& sites) {
  const auto at = [&](uint64_t offset) {
    UprobeSite site{call.path, offset, false, pid};
    site.inside.emplace();
    return site;
  };
  if (call.number && memory_effect(*call.number) == MemoryEffect::starts) {
    const UprobeSite behind = at(call.behind);
    return is_fork(behind, sites) || (add_taking(at(call.begin), inside::Taking::starts, call, sites) &&
                                      add_taking(behind, inside::Taking::started, call, sites));
  }
  if (!add_taking(at(call.begin), inside::Taking::begins, call, sites)) return false;
  add_taking(at(call.behind), inside::Taking::ends, call, sites);  // if not, what a call has taken is never steady again
  return true;
}

// A watch says that a child begins there, which has memory of its own.
bool AgentPlanner::is_fork(const UprobeSite& behind, const std::vector<AgentPlannedSite>& sites) {
  Candidate candidate{.site = &behind};
  if (!locate(candidate).empty() || !fill(candidate).empty()) return false;
  return std::any_of(sites.begin(), sites.end(), [&](const AgentPlannedSite& one) {
    return one.site.watch == inside::Watch::fork && one.site.window_address == candidate.window_address();
  });
}

// The files of these calls, the C library and the linker, stay mapped. So the sites raise no signal.
bool AgentPlanner::add_taking(const UprobeSite& site, inside::Taking taking, const MemoryCaller& call,
                              std::vector<AgentPlannedSite>& sites) {
  Candidate candidate{.site = &site};
  if (!locate(candidate).empty() || !fill(candidate).empty() || !candidate.relays.empty() || has_refused(candidate)) return false;
  const MachineInstruction* first = decode(candidate).at(candidate.window.begin);
  if (first == nullptr || first->length < kJumpBytes) {
    const uint64_t last = candidate.window_offset() + candidate.window.copied - 1;
    if (candidate.code->is_entered({{candidate.window_offset(), candidate.window.copied, 0}, last})) return false;
  }
  const AddressRange range{candidate.window_address(), candidate.window_address() + candidate.window.length};
  auto known = std::find_if(sites.begin(), sites.end(), [&](const AgentPlannedSite& one) {
    return one.site.range().begin < range.end && range.begin < one.site.range().end;
  });
  if (known == sites.end()) {
    known = sites.insert(sites.begin(), AgentPlannedSite{site_of(candidate), {}});
    known->site.function = 0;  // not refused with the probes of its function
    known->site.raises = 0;
  }
  AgentSite& its = known->site;
  const bool is_there = its.window_address + its.probed == candidate.address + candidate.probed;
  const bool is_function =
      taking == inside::Taking::begins && inside::watches_memory(its.watch) && its.function == candidate.address;
  if (its.is_conditional || !(is_function || (is_there && (call.number || taking == inside::Taking::ends)))) return false;
  its.taking = is_function ? inside::Taking::begins_function : taking;
  its.number = call.number.value_or(0);
  if (taking == inside::Taking::begins || taking == inside::Taking::starts)
    its.behind = candidate.address + (call.behind - candidate.function.offset);
  return true;
}

}  // namespace dvm::runtime
