// How an AgentProcess lets clauses read steady memory (inside/steady.h). Covered by
// tests/runtime/scenarios/test_agent_heap.py.

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "runtime/agent/agent_process.h"
#include "runtime/agent/code_area.h"
#include "runtime/agent/code_pages.h"
#include "runtime/agent/inside/steady.h"
#include "runtime/agent/site_room.h"
#include "runtime/agent/suspects.h"
#include "runtime/agent/target_check.h"

namespace dvm::runtime {
namespace {

bool has_takers(const std::vector<CodeArea>& areas) {
  return std::any_of(areas.begin(), areas.end(), [](const CodeArea& area) {
    return std::any_of(area.sites.begin(), area.sites.end(),
                       [](const AgentSite* site) { return site->taking != inside::Taking::nothing; });
  });
}

// The part of an inside::Site that makes it note what a call takes. It is written at once.
struct SiteTaking {
  inside::Taking taking;
  uint32_t number;
};
static_assert(offsetof(inside::Site, number) == offsetof(inside::Site, taking) + offsetof(SiteTaking, number));
static_assert(offsetof(inside::Site, taking) % sizeof(SiteTaking) == 0);

// The kernel will make the system call before this address again.
bool is_restarted(const HeldThread& thread, uint64_t behind) {
  constexpr int64_t kFirst = -516, kLast = -512;
  const auto result = static_cast<int64_t>(thread.registers.rax);
  return thread.registers.rip == behind && result >= kFirst && result <= kLast;
}

}  // namespace

// As soon as there are takers. True: the process is still to be asked for what that needs.
bool AgentProcess::find_restarts(const StoppedProcess& stopped, const std::vector<Area>& areas) {
  if (is_restartable_ || !has_takers(areas)) return false;
  const auto place = find_rseq(stopped);
  is_restartable_ = place.has_value();
  if (place) context_.rseq = place->offset, context_.rseq_bytes = place->bytes;
  return is_restartable_;
}

// Sites that lead to the agent and nowhere else.
void AgentProcess::note_plain(const std::vector<Area>& areas) {
  for (const Area& area : areas)
    for (size_t i = 0; i < area.patched.size(); i++) {
      const AgentSite& site = *area.patched[i];
      const auto [address, stub] = area.placed[i];
      PlainSite plain{address, {stub - 1, stub + area.stubs[i].bytes.size()}, site.probed};
      if (!site.refusal.empty() || !firers_of(site).empty() || site.relay != 0) continue;
      if (memory_.read(site.window_address, plain.jump)) plain_[site.window_address] = plain;
    }
}

// Sites that were placed before there was a clause that reads memory get to note what calls take. Returns their windows.
std::set<uint64_t> AgentProcess::reuse_sites(const std::vector<AgentSite>& sites) {
  std::set<uint64_t> reused;
  CodePages pages(memory_);
  for (const AgentSite& one : sites) {
    if (one.taking == inside::Taking::nothing) continue;
    const auto known = plain_.find(one.window_address);
    if (known == plain_.end() || known->second.probed != one.probed) continue;
    if (!pages.holds(one.window_address, known->second.jump)) continue;
    const SiteTaking taking{one.taking, one.number};
    if (memory_.write_object(known->second.address + offsetof(inside::Site, taking), taking)) reused.insert(one.window_address);
  }
  return reused;
}

// Between a site and its call, and in the stub of a site that did not note the call.
void AgentProcess::find_unseen(const std::vector<AgentSite>& sites, const std::set<uint64_t>& reused) {
  unseen_.clear(), unseen_numbers_.clear();
  for (const AgentSite& one : sites) {
    if (one.behind == 0) continue;
    unseen_.push_back({one.window_address, one.behind});
    unseen_numbers_.insert(one.number);
  }
  for (const uint64_t window : reused) unseen_.push_back(plain_[window].stub);
}

// All threads stand still. Many wait by syscall(), for futexes, and wait again.
bool AgentProcess::may_take_unseen(const StoppedProcess& stopped) const {
  if (unseen_.empty()) return false;
  const Suspects suspects(stopped, memory_, unseen_);
  return std::any_of(unseen_.begin(), unseen_.end(), [&](const AddressRange& one) {
    const auto repeats = [&](const HeldThread& thread) {
      return is_restarted(thread, one.end) && unseen_numbers_.contains(thread.registers.orig_rax);
    };
    return suspects.stands_in(one) || suspects.may_return_into(one) ||
           std::any_of(stopped.threads().begin(), stopped.threads().end(), repeats);
  });
}

// One window may have a spare site.
void AgentProcess::note_takers(const std::vector<AgentSite>& sites, const std::set<uint64_t>& reused) {
  std::set<uint64_t> planned, placed = reused;
  for (const AgentSite& one : sites)
    if (one.taking != inside::Taking::nothing) {
      planned.insert(one.window_address);
      if (one.refusal.empty()) placed.insert(one.window_address);
    }
  if (planned.empty() || planned != placed || !no_unseen_) return;
  for (const uint64_t address : placed)
    if (!memory_.read(address, takers_[address])) return takers_.clear();
}

std::string_view AgentProcess::begin_steady(SteadyProposals::FindUnwatched find_unwatched) {
  if (!is_on_ || takers_.empty()) return "a system call that may unmap memory is not watched";
  if (!is_restartable_) return "its threads have no rseq areas at one place";
  if (!steady_)
    steady_.emplace(context_.pid, inside::steady_at(context_.armed), std::vector<AddressRange>(), std::move(find_unwatched));
  for (const AddressRange& one : own_ranges()) steady_->leave_out(one);
  return {};
}

// A uprobe of another tracer there has the instruction of the file run instead, so the call is not seen.
bool AgentProcess::are_takers_on() {
  CodePages pages(memory_);
  return std::all_of(takers_.begin(), takers_.end(), [&](const auto& one) { return pages.holds(one.first, one.second); });
}

void AgentProcess::refresh_steady(uint64_t now) {
  constexpr uint64_t kLooksEvery = 20'000'000;
  if (!steady_ || !is_on_) return;
  if (now - looked_ >= kLooksEvery) {
    looked_ = now;
    uint64_t armed = 0;
    if (!memory_.read_object(context_.armed, armed)) return;  // it has ended, or executed another program
    if (!are_takers_on()) steady_->end(memory_, "another tracer has changed a function by which it unmaps memory");
  }
  steady_->refresh(memory_, now);
}

// All threads stand still. Memory can be taken away unseen from now on.
void AgentProcess::end_steady() {
  const uint64_t at = inside::steady_at(context_.armed);
  const uint64_t off = 1;
  uint64_t state = 0;
  if (steady_)
    steady_end_ = steady_->problem().empty() ? "a function by which it unmaps memory is no longer watched" : steady_->problem();
  steady_.reset();
  takers_.clear();
  if (!memory_.read_object(at + offsetof(inside::SteadyMemory, state), state)) return;
  memory_.write_object(at + offsetof(inside::SteadyMemory, is_off), off);
  memory_.write_object(at + offsetof(inside::SteadyMemory, state), (state & ~inside::kTableBits) + inside::kSteadyStep);
}

}  // namespace dvm::runtime
