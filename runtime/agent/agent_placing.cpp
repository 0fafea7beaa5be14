// How an AgentProcess places its jumps. Tested by tests/runtime/scenarios/test_agent.py.

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/agent/agent_process.h"
#include "runtime/agent/code_area.h"
#include "runtime/agent/detach.h"
#include "runtime/agent/inside/memory_calls.h"
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
constexpr std::string_view kMayUnmapUnseen = "a function by which the process may unmap memory of the agent cannot be watched";

bool keeps_memory(const AgentSite& site) { return inside::watches_memory(site.watch); }

}  // namespace

struct AgentProcess::Waiting {
  Area* area;
  size_t index;
  AgentSite& site() const { return *area->patched[index]; }
  const Stub& stub() const { return area->stubs[index]; }
};

// The sites that are yet to be placed, and spares for those of them that may be refused.
struct AgentProcess::Placing {
  std::vector<AgentSite>& all;
  SiteGroups& groups;
  std::vector<Waiting> waiting{}, spares{};
  std::set<uint64_t> keeping{};  // windows of the functions that this pass is to watch for unmapped memory
  std::set<uint64_t> jumped{};   // places with jumps of agents before this pass, also of other tracers

  void add(const Waiting& one) {
    if (keeps_memory(one.site())) keeping.insert(one.site().window_address);
    (one.site().is_spare ? spares : waiting).push_back(one);
  }
  void note_jumps(const std::vector<uint64_t>& some) { jumped.insert(some.begin(), some.end()); }
  void drop_refused() {
    groups.refuse_together();
    std::erase_if(waiting, [](const Waiting& one) { return !one.site().refusal.empty(); });
  }
  std::vector<AgentSite*> sites() const {
    std::vector<AgentSite*> found;
    for (const Waiting& one : waiting) found.push_back(&one.site());
    return found;
  }
  std::set<size_t> watching() const {
    std::set<size_t> found;
    for (const Waiting& one : waiting)
      if (keeps_memory(one.site())) found.insert(groups.of(one.site()));
    return found;
  }
  void take_spares() {
    const auto is_needless = [&](const Waiting& one) {
      return std::none_of(all.begin(), all.end(), [&](const AgentSite& site) {
        return !site.is_spare && site.window_address == one.site().window_address && !site.refusal.empty();
      });
    };
    const auto needed = std::stable_partition(spares.begin(), spares.end(), is_needless);
    waiting.insert(waiting.end(), needed, spares.end());
    spares.erase(needed, spares.end());
  }
  // Where one watch could not be written, the others of its pass do not stay either.
  static void refuse_incomplete(std::span<const Waiting> chosen) {
    const auto is_missing = [](const Waiting& one) { return keeps_memory(one.site()) && !one.site().refusal.empty(); };
    if (std::none_of(chosen.begin(), chosen.end(), is_missing)) return;
    for (const Waiting& one : chosen)
      if (one.site().refusal.empty()) one.site().refusal = kMayUnmapUnseen;
  }
  // Another tool has changed a function that the agent would have to watch, or another way to trace takes its probes. Where
  // another tracer's agent has its jump, this one goes without.
  bool leaves_unwatched(const HandlerWatch& watches) const {
    std::set<uint64_t> watched;
    for (const Waiting& one : waiting)
      if (keeps_memory(one.site())) watched.insert(one.site().window_address);
    return std::any_of(all.begin(), all.end(), [&](const AgentSite& one) {
      const bool is_missing = keeps_memory(one) && !one.refusal.empty() && !watched.contains(one.window_address);
      const bool counts = !one.firers.empty() || keeping.contains(one.window_address);
      return is_missing && counts && !jumped.contains(one.window_address) && !watches.has_placed(one.window_address);
    });
  }
};

// Tries again as long as a thread may come back into a window.
Status AgentProcess::patch(std::vector<AgentSite>& sites, std::vector<Area>& areas, SiteGroups& groups) {
  Placing placing{sites, groups};
  for (Area& area : areas)
    for (size_t i = 0; i < area.patches.size(); i++) placing.add({&area, i});
  const std::set<uint64_t> locked = locks_.add(context_.pid, sites);
  const std::set<pid_t> apart = apart_from(context_.pid);  // before the threads stand still
  const PlacingLock lock({context_.pid});
  for (const FoundAgent& agent : find_agents(context_.pid, memory_)) placing.note_jumps(jumps_of(memory_, agent));
  std::string why = "a thread may be executing its first five bytes";
  no_unseen_ = unseen_.empty();
  for (int attempt = 0; attempt < kPlacings && !(placing.waiting.empty() && no_unseen_); attempt++) {
    if (attempt != 0) usleep(kBetweenPlacings);
    auto stopped = StoppedProcess::stop(context_.pid);
    if (!stopped && !is_on_) return stopped.error();
    if (!stopped) why = stopped.error().message;
    if (!stopped) break;
    if (const inside::ArmedPage page{.armed = inside::kShared, .muted = 1, .pid = context_.own_pid};
        !is_on_ && !memory_.write_object(context_.armed, page))
      return Error{"the process has ended"};
    patch_groups(*stopped, areas, placing);
    if (!placing.waiting.empty()) continue;
    arm_alone(*stopped, areas, apart);
    no_unseen_ = !may_take_unseen(*stopped);
  }
  const bool is_watch_missing = !placing.watching().empty();
  for (const Waiting& one : placing.waiting)
    one.site().refusal = is_watch_missing && !keeps_memory(one.site()) ? kMayUnmapUnseen : why;
  for (const Waiting& one : placing.spares) one.site().refusal = "the site with the probes is on";
  groups.refuse_together();
  locks_.remove_refused(sites, locked);
  return {};
}

// All threads stand still. Leaves in `waiting` the groups in which a thread may come back into a window. No jump is placed before
// those that tell when the program unmaps memory of dvm's, and none of these without the others.
void AgentProcess::patch_groups(StoppedProcess& stopped, std::vector<Area>& areas, Placing& placing) {
  refuse_standing(stopped, placing);
  std::vector<AddressRange> windows;
  for (const auto* some : {&placing.waiting, &placing.spares})
    for (const Waiting& one : *some) windows.push_back(one.site().range());
  const Suspects suspects(stopped, memory_, windows);
  const auto is_busy = [&](const Waiting& one) {
    const AddressRange window = one.site().range();
    const bool may_stand = !suspects.stands_in(window) || can_move_threads(stopped, window, one.stub().moved);
    return suspects.may_return_into(window) || !may_stand;
  };
  const auto place_groups_of = [&](const auto& may_be_placed) {
    std::set<size_t> others;
    for (const Waiting& one : placing.waiting)
      if (is_busy(one) || !may_be_placed(one)) others.insert(placing.groups.of(one.site()));
    std::vector<Waiting>& waiting = placing.waiting;
    const auto first = std::stable_partition(waiting.begin(), waiting.end(),
                                             [&](const Waiting& one) { return others.contains(placing.groups.of(one.site())); });
    if (place_jumps(stopped, std::span(first, waiting.end()), placing.groups)) waiting.erase(first, waiting.end());
  };
  placing.take_spares();
  const std::set<size_t> watching = placing.watching();
  const auto is_watching = [&](const Waiting& one) { return watching.contains(placing.groups.of(one.site())); };
  const auto keeps_waiting = [&](const Waiting& one) { return is_watching(one) && is_busy(one); };
  if (std::any_of(placing.waiting.begin(), placing.waiting.end(), keeps_waiting)) return;
  if (placing.leaves_unwatched(handlers_)) return refuse_all(placing);
  place_groups_of(is_watching);
  if (!placing.watching().empty()) return;
  if (placing.leaves_unwatched(handlers_)) return refuse_all(placing);
  place_groups_of([](const Waiting& one) { return one.site().raises == 0; });
  for (const Area& area : areas)
    for (const AgentSite* site : area.sites) note_unwatched(*site);
  handlers_.refuse_unseen(placing.sites());
  placing.drop_refused();
  place_groups_of([](const Waiting&) { return true; });
}

// By what the process is now.
void AgentProcess::refuse_standing(StoppedProcess& stopped, Placing& placing) {
  std::vector<AgentSite*> sites = placing.sites();
  for (const Waiting& one : placing.spares) sites.push_back(&one.site());
  refuse_changed(sites, memory_, kept_unwinders(context_.pid, memory_));
  refuse_raising(sites, placing.groups, context_, memory_, data_);
  refuse_unraisable(stopped, sites);
  std::erase_if(placing.spares, [](const Waiting& one) { return !one.site().refusal.empty(); });
  placing.drop_refused();
}

void AgentProcess::refuse_all(Placing& placing) {
  for (const Waiting& one : placing.waiting) one.site().refusal = kMayUnmapUnseen;
  placing.drop_refused();
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
  Placing::refuse_incomplete(chosen);
  take_refused_off(stopped, jumped);
  for (const Waiting& one : chosen) {
    AgentSite& site = one.site();
    if (!site.refusal.empty()) continue;
    is_on_ = true;
    jumps_.add(one.area->patches[one.index].patch, site);
    note_watch(stopped, site);
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
  uint16_t armed = 0;
  const uint64_t at = context_.armed + offsetof(inside::ArmedPage, armed);
  if (!is_ordered_ || context_.follows != 0 || !are_watched || is_unwatched_) return;
  if (!memory_.read_object(at, armed) || armed != inside::kShared || shares_memory(context_.pid, apart)) return;
  if (context_.thread_offset == 0 || find_thread_offset(stopped, memory_) == context_.thread_offset)
    memory_.write_object(at, inside::kAlone);
}

}  // namespace dvm::runtime
