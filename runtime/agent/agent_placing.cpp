// How an AgentProcess places its jumps. Tested by tests/runtime/scenarios/test_agent.py.

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "runtime/agent/agent_process.h"
#include "runtime/agent/code_area.h"
#include "runtime/agent/detach.h"
#include "runtime/agent/other_jumps.h"
#include "runtime/agent/patches.h"
#include "runtime/agent/placing_lock.h"
#include "runtime/agent/semaphores.h"
#include "runtime/agent/suspects.h"
#include "runtime/agent/target_check.h"
#include "runtime/agent/unfit_sites.h"

namespace dvm::runtime {
namespace {

constexpr int kPlacings = 4;  // attempts to find no thread in a window
constexpr useconds_t kBetweenPlacings = 2000;

}  // namespace

struct AgentProcess::Waiting {
  Area* area;
  size_t index;
  AgentSite& site() const { return *area->patched[index]; }
  const Stub& stub() const { return area->stubs[index]; }
};

// Tries again as long as a thread may come back into a window.
Status AgentProcess::patch(std::vector<Area>& areas, SiteGroups& groups) {
  std::vector<Waiting> waiting;
  for (Area& area : areas)
    for (size_t i = 0; i < area.patches.size(); i++) waiting.push_back({&area, i});
  const std::set<pid_t> apart = apart_from(context_.pid);  // before the threads stand still
  const PlacingLock lock({context_.pid});
  std::string why = "a thread may be executing its first five bytes";
  for (int attempt = 0; attempt < kPlacings && !waiting.empty(); attempt++) {
    if (attempt != 0) usleep(kBetweenPlacings);
    auto stopped = StoppedProcess::stop(context_.pid);
    if (!stopped && !is_on_) return stopped.error();
    if (!stopped) why = stopped.error().message;
    if (!stopped) break;
    if (const inside::ArmedPage page{inside::kShared, 1, context_.own_pid};
        !is_on_ && !memory_.write_object(context_.armed, page))
      return Error{"the process has ended"};
    patch_groups(*stopped, areas, waiting, groups);
    if (waiting.empty()) arm_alone(*stopped, areas, apart);
  }
  for (const Waiting& one : waiting) one.site().refusal = why;
  groups.refuse_together();
  return {};
}

// All threads stand still. Leaves in `waiting` the groups in which a thread may come back into a window.
void AgentProcess::patch_groups(StoppedProcess& stopped, std::vector<Area>& areas, std::vector<Waiting>& waiting,
                                SiteGroups& groups) {
  std::vector<AgentSite*> sites;
  for (const Waiting& one : waiting) sites.push_back(&one.site());
  const auto drop_refused = [&] {
    groups.refuse_together();
    std::erase_if(waiting, [](const Waiting& one) { return !one.site().refusal.empty(); });
    std::erase_if(sites, [](const AgentSite* site) { return !site->refusal.empty(); });
  };
  refuse_changed(sites, memory_, kept_unwinders(context_.pid, memory_));
  refuse_raising(sites, groups, context_, memory_, data_);
  refuse_unraisable(stopped, sites);
  drop_refused();
  std::vector<AddressRange> windows;
  for (const Waiting& one : waiting) windows.push_back(one.site().range());
  const Suspects suspects(stopped, memory_, windows);
  std::set<size_t> busy, raising;
  for (const Waiting& one : waiting) {
    if (one.site().raises != 0) raising.insert(groups.of(one.site()));
    const AddressRange window = one.site().range();
    const bool may_stand = !suspects.stands_in(window) || can_move_threads(stopped, window, one.stub().moved);
    if (suspects.may_return_into(window) || !may_stand) busy.insert(groups.of(one.site()));
  }
  const auto place_all_but = [&](const std::set<size_t>& others) {
    const auto first = std::stable_partition(waiting.begin(), waiting.end(), [&](const Waiting& one) {
      const size_t group = groups.of(one.site());
      return busy.contains(group) || others.contains(group);
    });
    if (place_jumps(stopped, std::span(first, waiting.end()), groups)) waiting.erase(first, waiting.end());
  };
  place_all_but(raising);
  for (const Area& area : areas)
    for (const AgentSite* site : area.sites) note_unwatched(*site);
  handlers_.refuse_unseen(sites);
  drop_refused();
  place_all_but({});
}

// False: a thread has ended meanwhile, and the process with it.
bool AgentProcess::place_jumps(StoppedProcess& stopped, std::span<const Waiting> chosen, SiteGroups& groups) {
  std::vector<SitePatch> patches;
  uint64_t raised = raised_;
  for (const Waiting& one : chosen) {
    if (!move_threads(stopped, one.site().range(), one.stub().moved, one.area->range.begin)) return false;
    raised |= one.site().raises;
    patches.push_back(one.area->patches[one.index]);
  }
  note_raised(raised);
  const std::set<uint64_t> failed = write_jumps(memory_, patches);
  std::vector<JumpedSite> jumped;
  for (const Waiting& one : chosen) {
    AgentSite& site = one.site();
    if (failed.contains(site.window_address)) site.refusal = "its code cannot be written";
    jumped.push_back({&site, &one.area->patches[one.index]});
  }
  raise_semaphores(stopped, memory_, semaphores_at(), jumped);
  groups.refuse_together();
  take_refused_off(stopped, jumped);
  for (const Waiting& one : chosen) {
    AgentSite& site = one.site();
    is_on_ |= site.refusal.empty();
    if (site.refusal.empty()) note_watch(stopped, site);
  }
  return true;
}

// All threads stand still. Once both functions are watched, stubs may make system calls; nothing else ever allows it again.
void AgentProcess::note_watch(const StoppedProcess& stopped, const AgentSite& site) {
  using inside::Watch;
  handlers_.note(site);
  const bool is_new = site.watch != Watch::nothing && watched_.insert(site.watch).second;
  if (!is_new || (site.watch != Watch::prctl && site.watch != Watch::syscall)) return;
  if (!watched_.contains(Watch::prctl) || !watched_.contains(Watch::syscall)) return;
  const uint64_t muted = restricts_calls(stopped) ? 1 : 0;
  memory_.write_object(context_.data + offsetof(inside::DataHeader, restricted), muted);
  memory_.write_object(context_.armed + offsetof(inside::ArmedPage, muted), muted);
}

void AgentProcess::note_unwatched(const AgentSite& site) {
  using inside::Watch;
  const bool may_share = site.watch == Watch::clone || site.watch == Watch::syscall || site.watch == Watch::arch_prctl;
  is_unwatched_ |= may_share && !site.refusal.empty();
  if (!site.refusal.empty()) handlers_.note(site);
}

// Before a jump is placed, and after it is taken off.
void AgentProcess::note_raised(uint64_t raised) {
  if (raised_ == raised) return;
  raised_ = raised;
  memory_.write_object(context_.data + offsetof(inside::DataHeader, unraised), ~raised);
}

// All threads stand still. As far as dvm can know, no two tasks have one thread control block, and any that comes is seen first.
void AgentProcess::arm_alone(const StoppedProcess& stopped, const std::vector<Area>& areas, const std::set<pid_t>& apart) {
  for (const Area& area : areas)
    for (const AgentSite* site : area.sites) note_unwatched(*site);
  const bool are_watched = watched_.contains(inside::Watch::clone) && watched_.contains(inside::Watch::syscall);
  uint64_t armed = 0;
  const uint64_t at = context_.armed + offsetof(inside::ArmedPage, armed);
  if (!is_ordered_ || context_.follows != 0 || !are_watched || is_unwatched_) return;
  if (!memory_.read_object(at, armed) || armed != inside::kShared || shares_memory(context_.pid, apart)) return;
  if (context_.thread_offset == 0 || find_thread_offset(stopped, memory_) == context_.thread_offset)
    memory_.write_object(at, inside::kAlone);
}

}  // namespace dvm::runtime
