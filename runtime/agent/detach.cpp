// Tested by tests/runtime/scenarios/test_agent.py.

#include "runtime/agent/detach.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/agent/code_pages.h"
#include "runtime/agent/code_writes.h"
#include "runtime/agent/mapping_plan.h"
#include "runtime/agent/patches.h"
#include "runtime/agent/remote_calls.h"
#include "runtime/agent/remote_room.h"
#include "runtime/agent/semaphores.h"
#include "runtime/agent/stopped_process.h"
#include "runtime/agent/suspects.h"
#include "runtime/agent/unmap.h"
#include "runtime/code/displaced.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

using inside::PatchKind;

constexpr uint64_t kMostPatches = 1 << 20;
constexpr useconds_t kFirstPause = 1000, kLastPause = 64'000;  // between attempts to unmap

bool is_wanted(const FoundAgent& agent, WhichAgents which, pid_t tracer) {
  if (which == WhichAgents::all) return true;
  return which == WhichAgents::of_this_tracer ? is_of_tracer(agent, tracer) : !is_traced(agent);
}

void disarm(const AgentMemory& memory, const FoundAgent& agent) {
  const uint64_t off = inside::kDisarmed;  // with what lies beside it in the word
  if (agent.header.armed != 0) memory.write_object(agent.header.armed, off);
}

std::vector<inside::Patch> patches_of(const AgentMemory& memory, const FoundAgent& agent) {
  std::vector<inside::Patch> patches(std::min(std::max(agent.header.patches, agent.header.table_size), kMostPatches));
  if (!memory.read(agent.header.table, std::as_writable_bytes(std::span(patches)))) patches.clear();
  for (inside::Patch& one : patches)
    if (one.length == 0) one.length = kJumpBytes;  // a dvm that knew no relays left its length out
  std::erase_if(patches, [](const inside::Patch& one) { return one.length > sizeof one.before; });
  return patches;
}

bool finds_frames(const inside::Patch& patch) { return patch.kind == PatchKind::unwinder; }

bool lies_there(CodePages& code, const inside::Patch& patch) { return code.holds(patch.address, bytes_after(patch)); }

// Restores the code only where the jump still lies: another tracer may have replaced it.
bool restore(const AgentMemory& memory, CodePages& code, const inside::Patch& patch) {
  return lies_there(code, patch) && memory.write(patch.address, bytes_before(patch));
}

AddressRange around(const inside::Patch& relay) { return {relay.address - 1, relay.address + relay.length}; }

// All threads stand still, and no debugger is there, which would put back a byte of a jump. Relays last, when nothing leads there
// any more. One where a thread is about to go on has to stay: the padding that it replaces leads elsewhere.
size_t restore_all(const StoppedProcess& stopped, const AgentMemory& memory, const std::vector<inside::Patch>& patches) {
  CodePages code(memory);
  CodeWrites jumps;
  size_t restored = 0;
  std::vector<AddressRange> relays;
  for (const inside::Patch& patch : patches) {
    if (patch.kind == PatchKind::relay) relays.push_back(around(patch));
    if (patch.kind != PatchKind::site) continue;
    restored += add_restored(code, patch, jumps);
  }
  restored -= jumps.write(memory).size();
  if (relays.empty()) return restored;
  const Suspects suspects(stopped, memory, relays);
  for (const inside::Patch& patch : patches)
    if (patch.kind == PatchKind::relay && !suspects.stands_in(around(patch)) && !suspects.may_return_into(around(patch)))
      restore(memory, code, patch);
  return restored;
}

// By the jump of another agent, which knows the code of this one.
bool is_replaced(CodePages& code, const inside::Patch& patch) {
  return finds_frames(patch) && code.holds(patch.address, bytes_after(patch).first(1)) && !lies_there(code, patch);
}

// A jump, or what is left of one whose opcode something else has replaced, and may put back.
bool may_lead_on(CodePages& code, const inside::Patch& patch) {
  return code.holds(patch.address + 1, bytes_after(patch).subspan(1)) && !code.holds(patch.address, bytes_before(patch));
}

// One stop puts the code back. Threads that are in a stub then leave it, so that a later one can unmap it.
class Removal {
 public:
  Removal(pid_t pid, const AgentMemory& memory, std::vector<FoundAgent>& agents, pid_t ended)
      : memory_(memory), agents_(agents), ended_(ended) {
    kept_ = kept_unwinders(pid, memory);
    std::erase_if(kept_, [&](const KeptUnwinder& one) {
      return std::any_of(agents.begin(), agents.end(), [&](const FoundAgent& its) { return its.range.begin == one.code.begin; });
    });
    for (const FoundAgent& agent : agents) {
      const std::vector<inside::Patch> its = patches_of(memory, agent);
      patches_.insert(patches_.end(), its.begin(), its.end());
      if (agent.header.semaphores != 0) semaphores_.insert(agent.header.semaphores);
    }
  }

  // False: mappings stay.
  Result<bool> attempt(pid_t pid, bool may_unmap) {
    const auto pieces = may_unmap ? remote_pieces(pid, memory_) : std::vector<AddressRange>();  // before the threads stand still
    auto stopped = StoppedProcess::stop_or_join(pid);
    if (!stopped) return stopped.error();
    for (const uint64_t table : semaphores_)
      if (Status lowered = lower_semaphores(*stopped, memory_, table); !lowered) return lowered.error();
    restored_ += restore_all(*stopped, memory_, patches_);
    stopped->end_waits(pieces);
    const bool is_used = may_unmap && are_used(*stopped, memory_, agents_, 0, ended_);
    const bool is_kept = is_used && has_unwinder();
    if (!is_used) restore_unwinders();
    if (!is_kept) note_restored();
    return may_unmap && !is_used && !stopped->has_joined() && !leads_on() && unmap_agents(*stopped, memory_, agents_, ended_);
  }
  size_t restored() const { return restored_; }

 private:
  void note_restored() {
    for (FoundAgent& agent : agents_) {
      if (std::exchange(agent.header.patches, 0) != 0) memory_.write_object(agent.range.begin, agent.header);
    }
  }
  // A handler that has interrupted code of the agent may be about to unwind the stack.
  bool has_unwinder() const {
    CodePages code(memory_);
    return std::any_of(patches_.begin(), patches_.end(), [&](const inside::Patch& one) {
      return finds_frames(one) && (lies_there(code, one) || is_replaced(code, one));
    });
  }
  void restore_unwinders() {
    CodePages code(memory_);
    for (const inside::Patch& one : patches_) {
      if (!finds_frames(one) || !lies_there(code, one)) continue;
      const KeptUnwinder* other = kept_at(one.address);
      restored_ += memory_.write(one.address, other != nullptr ? bytes_after(other->patch) : bytes_before(one));
    }
  }
  // The jump of an agent that stays, which had the place before.
  const KeptUnwinder* kept_at(uint64_t address) const {
    const auto found =
        std::find_if(kept_.begin(), kept_.end(), [&](const KeptUnwinder& one) { return one.patch.address == address; });
    return found == kept_.end() ? nullptr : &*found;
  }
  bool leads_on() const {
    CodePages code(memory_);
    const auto leads_on = [&](const inside::Patch& one) {
      return may_lead_on(code, one) || (is_replaced(code, one) && kept_at(one.address) == nullptr);
    };
    return std::any_of(patches_.begin(), patches_.end(), leads_on);
  }

  const AgentMemory& memory_;
  std::vector<FoundAgent>& agents_;
  pid_t ended_;                     // see unmap_agents()
  std::vector<KeptUnwinder> kept_;  // of others
  std::vector<inside::Patch> patches_;
  std::set<uint64_t> semaphores_;  // addresses of their tables
  size_t restored_ = 0;
};

using IsThere = bool (*)(CodePages& code, const inside::Patch& patch);

std::vector<uint64_t> jumps_that(IsThere is_there, const AgentMemory& memory, const FoundAgent& agent) {
  std::vector<uint64_t> found;
  CodePages code(memory);
  for (const inside::Patch& patch : patches_of(memory, agent))
    if (is_there(code, patch)) found.push_back(patch.address);
  return found;
}

}  // namespace

std::vector<uint64_t> jumps_of(const AgentMemory& memory, const FoundAgent& agent) {
  return jumps_that(lies_there, memory, agent);
}
std::vector<uint64_t> held_jumps_of(const AgentMemory& memory, const FoundAgent& agent) {
  return jumps_that(may_lead_on, memory, agent);
}

std::vector<KeptUnwinder> kept_unwinders(pid_t pid, const AgentMemory& memory) {
  std::vector<KeptUnwinder> kept;
  for (const FoundAgent& agent : find_agents(pid, memory)) {
    if (agent.header.frames == 0 || agent.header.patches == 0 || is_traced(agent)) continue;
    for (const inside::Patch& patch : patches_of(memory, agent))
      if (finds_frames(patch)) kept.push_back({agent.range, patch});
  }
  return kept;
}

void take_jumps_off(pid_t pid, const AgentMemory& memory, pid_t tracer, std::span<const uint64_t> jumps) {
  CodePages code(memory);
  for (const FoundAgent& agent : find_agents(pid, memory)) {
    if (!is_of_tracer(agent, tracer)) continue;
    const std::vector<inside::Patch> patches = patches_of(memory, agent);
    CodeWrites writes;
    for (const inside::Patch& patch : patches)
      if (std::binary_search(jumps.begin(), jumps.end(), patch.address)) add_restored(code, patch, writes);
    writes.write(memory);
  }
}

Result<Detached> detach_agents(pid_t pid, const AgentMemory& memory, WhichAgents which, pid_t tracer, Mappings mappings) {
  std::vector<FoundAgent> agents = find_agents(pid, memory);
  const bool may_unmap = mappings == Mappings::unmap, cleans = may_unmap && which != WhichAgents::of_this_tracer;
  const pid_t ended = may_unmap && which == WhichAgents::of_this_tracer ? tracer : 0;
  bool has_work = may_unmap && !orphaned_ranges(pid, memory, ended).empty();
  std::erase_if(agents, [&](const FoundAgent& one) { return !is_wanted(one, which, tracer); });
  Detached detached;
  for (const FoundAgent& agent : agents) {
    disarm(memory, agent);
    detached.agents += agent.header.patches != 0;
    has_work |= agent.header.patches != 0 || (may_unmap && has_mappings(agent));
  }
  const bool is_only_code = !has_work && cleans && !remote_pieces(pid, memory).empty();  // maybe of a dvm that is at work
  if (!has_work && !is_only_code) return detached;
  Removal removal(pid, memory, agents, ended);
  const auto removed = removal.attempt(pid, may_unmap);
  if (!removed && is_only_code) return detached;
  if (!removed) return removed.error();
  detached.restored = removal.restored();
  bool stays = may_unmap && !*removed;
  for (useconds_t pause = kFirstPause; stays && pause <= kLastPause; pause *= 2) {
    usleep(pause);
    const auto again = removal.attempt(pid, may_unmap);
    stays = again && !*again;
  }
  return detached;
}

bool has_lanes_of(pid_t pid, pid_t tracer) {
  const std::string name = fmt::format("/memfd:{}{} ", kRemoteTextBegins, tracer);
  std::ifstream maps(memory_folder(pid) + "/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(name) != std::string::npos) return true;
  return false;
}

std::vector<pid_t> processes_of(pid_t tracer) {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error))
    if (const int pid = std::atoi(entry.path().filename().c_str()); pid > 0 && has_lanes_of(pid, tracer)) found.push_back(pid);
  return found;
}

namespace {

// Its memory has the agent of the parent.
bool is_forked_from(pid_t parent, pid_t pid, const AgentMemory& memory, pid_t tracer) {
  const std::vector<FoundAgent> agents = find_agents(pid, memory);
  return pid != parent && std::any_of(agents.begin(), agents.end(), [&](const FoundAgent& one) {
           return is_of_tracer(one, tracer) && one.header.pid == parent;
         });
}

}  // namespace

// One that is not stopped yet may fork meanwhile: until none is new.
void detach_forked(pid_t tracer, pid_t parent) {
  std::set<pid_t> done;
  for (bool any = true; any;) {
    any = false;
    for (const pid_t pid : processes_of(tracer)) {
      if (!done.insert(pid).second) continue;
      any = true;
      const auto memory = AgentMemory::open(pid);
      if (memory && (parent == 0 || is_forked_from(parent, pid, *memory, tracer)))
        (void)detach_agents(pid, *memory, WhichAgents::of_this_tracer, tracer);
    }
  }
}

}  // namespace dvm::runtime
