// Tested by tests/unit/instrument/process_semaphores_test.cpp and tests/runtime/scenarios/test_agent_semaphores.py.

#include "runtime/agent/semaphores.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>

#include "runtime/agent/inside/format.h"
#include "runtime/agent/remote_calls.h"
#include "runtime/agent/remote_room.h"
#include "runtime/agent/signal_frames.h"
#include "runtime/agent/target_check.h"

namespace dvm::runtime {
namespace {

using inside::Semaphore;
using inside::SemaphoreState;

constexpr const char* kRestricted = "its system calls are restricted, so no thread of it can raise its semaphore";
constexpr uint64_t kEntriesAt = offsetof(inside::Semaphores, all);

uint64_t entry_at(uint64_t table, size_t number) { return table + kEntriesAt + number * sizeof(Semaphore); }

// The process may have overwritten them.
std::vector<Semaphore> entries_of(const AgentMemory& memory, uint64_t table) {
  uint64_t count = 0;
  if (!memory.read_object(table, count)) return {};
  std::vector<Semaphore> all(std::min(count, inside::kMostSemaphores));
  if (!memory.read(entry_at(table, 0), std::as_writable_bytes(std::span(all)))) return {};
  return all;
}

bool set_state(const AgentMemory& memory, uint64_t table, size_t number, SemaphoreState state) {
  return memory.write_object(entry_at(table, number) + offsetof(Semaphore, state), state);
}

bool is_raised(const Semaphore& one) { return one.state == SemaphoreState::raised || one.state == SemaphoreState::wanted; }
bool is_changing(const Semaphore& one) { return one.state == SemaphoreState::raising || one.state == SemaphoreState::lowering; }

// Its jump lies in the code, maybe with another opcode that a breakpoint has put there. A distance of one byte does not tell a
// jump from other code.
bool has_jump(const AgentMemory& memory, const Semaphore& one) {
  uint8_t opcode = 0;
  uint32_t distance = 0;
  const auto bytes = std::as_writable_bytes(std::span(&distance, 1));
  if (one.distance_bytes == 1 && (!memory.read_object(one.jump, opcode) || opcode != inside::kShortJump)) return false;
  return memory.read(one.jump + 1, bytes.first(std::min<uint64_t>(one.distance_bytes, bytes.size()))) && distance == one.distance;
}

// A thread that a killed dvm has led into such code.
bool changes_semaphores(const StoppedProcess& process, const AgentMemory& memory) {
  const std::vector<AddressRange> pieces = remote_pieces(process.pid(), memory);
  return !pieces.empty() && may_execute(process, memory, pieces);
}

// Where no thread can be led: its signal stops it, or it may make no system calls. A dvm that is killed in between leaves a
// semaphore raised, rather than lowered twice.
void lower_from_outside(const AgentMemory& memory, uint64_t table) {
  const std::vector<Semaphore> all = entries_of(memory, table);
  for (size_t i = 0; i < all.size(); i++) {
    uint16_t now = 0;
    if (all[i].state != SemaphoreState::wanted || !set_state(memory, table, i, SemaphoreState::off)) continue;
    if (memory.read_object(all[i].counter, now) && now != 0) memory.write_object(all[i].counter, static_cast<uint16_t>(now - 1));
  }
}

// Marks what is to be lowered. False: nothing is. A killed dvm may have marked others, whose files are mapped no more.
bool want_lowered(const StoppedProcess& process, const AgentMemory& memory, uint64_t table, const std::vector<Semaphore>& all,
                  std::span<const uint64_t> jumps) {
  const auto mappings = mappings_of(process.pid());
  bool any = false;
  for (size_t i = 0; mappings && i < all.size(); i++) {
    if (!is_raised(all[i])) continue;
    const bool is_there = has_jump(memory, all[i]) && semaphore_refusal(*mappings, all[i].counter).empty();
    if (!is_there && all[i].state == SemaphoreState::wanted) set_state(memory, table, i, SemaphoreState::off);
    const bool is_asked = jumps.empty() || std::binary_search(jumps.begin(), jumps.end(), all[i].jump);
    if (is_asked && is_there) any |= set_state(memory, table, i, SemaphoreState::wanted);
  }
  return any;
}

bool may_raise(const AgentSite* site) { return site->refusal.empty() && !site->semaphores.empty(); }

// Those whose files are mapped no more have no use.
uint64_t used_entries(const AgentMemory& memory, uint64_t table) {
  const std::vector<Semaphore> all = entries_of(memory, table);
  uint64_t used = all.size();
  while (used > 0 && !is_changing(all[used - 1]) && !(is_raised(all[used - 1]) && has_jump(memory, all[used - 1]))) used--;
  return used;
}

// Entries of an earlier jump at the same place have no use. A short jump is the same again, so they would be lowered with it.
void forget_earlier(const AgentMemory& memory, uint64_t table, std::span<const Semaphore> added) {
  std::set<uint64_t> jumps;
  for (const Semaphore& one : added) jumps.insert(one.jump);
  const std::vector<Semaphore> all = entries_of(memory, table);
  for (size_t i = 0; i < all.size(); i++)
    if (is_raised(all[i]) && jumps.contains(all[i].jump)) set_state(memory, table, i, SemaphoreState::off);
}

std::vector<Semaphore> entries_for(std::span<const JumpedSite> sites) {
  std::vector<Semaphore> made;
  for (const JumpedSite& one : sites) {
    const inside::Patch& jump = one.patch->patch;
    for (const uint64_t counter : one.site->semaphores) {
      Semaphore& entry = made.emplace_back(Semaphore{counter, jump.address, 0, SemaphoreState::off, jump.length - 1U});
      std::memcpy(&entry.distance, jump.after + 1, std::min<uint64_t>(entry.distance_bytes, sizeof entry.distance));
    }
  }
  return made;
}

// Writes them into the table and raises them. Returns those that are not raised.
Result<std::vector<Semaphore>> add_raised(StoppedProcess& process, const AgentMemory& memory, uint64_t table,
                                          std::span<const Semaphore> added) {
  forget_earlier(memory, table, added);
  const uint64_t used = used_entries(memory, table), count = used + added.size();
  if (count > inside::kMostSemaphores) return Error{"the process has too many semaphores"};
  const uint64_t begin = entry_at(table, used), end = entry_at(table, count);
  if (!memory.write(begin, std::as_bytes(added)) || !memory.write_object(table, count))
    return Error{"the mapped memory cannot be written"};
  const RemoteCall call{kRemoteRaise, {begin, end}};
  process.prefer_waiting();
  const Status called = make_remote_calls(process, memory, std::span(&call, 1), [] { return false; });
  if (!called && changes_semaphores(process, memory)) return std::vector<Semaphore>();  // it raises them when it goes on
  std::vector<Semaphore> all = entries_of(memory, table);
  all.erase(all.begin(), all.begin() + static_cast<ptrdiff_t>(std::min<uint64_t>(used, all.size())));
  std::erase_if(all, is_raised);
  if (!called && !all.empty()) return called.error();
  return all;
}

bool is_for(const Semaphore& one, const JumpedSite& site) { return one.jump == site.patch->patch.address; }

}  // namespace

std::string_view semaphore_refusal(const std::vector<MemoryMapping>& mappings, uint64_t address) {
  const MemoryMapping* mapping = mapping_at(mappings, address);
  if (mapping == nullptr) return "its semaphore is not mapped in the process";
  if (!mapping->is_writable) return "its semaphore lies in memory that the program may not write";
  if (mapping->is_shared) return "its semaphore lies in memory that other processes share";
  if (address % sizeof(uint16_t) != 0) return "its semaphore lies at an odd address";
  return {};
}

void refuse_unraisable(const StoppedProcess& process, std::span<AgentSite* const> sites) {
  std::vector<AgentSite*> chosen;
  std::copy_if(sites.begin(), sites.end(), std::back_inserter(chosen), may_raise);
  if (chosen.empty()) return;
  const bool is_restricted = restricts_calls(process);
  const auto mappings = mappings_of(process.pid());
  for (AgentSite* site : chosen) {
    if (!mappings) site->refusal = mappings.error().message;
    if (is_restricted) site->refusal = kRestricted;
    for (const uint64_t counter : site->semaphores)
      if (site->refusal.empty()) site->refusal = semaphore_refusal(*mappings, counter);
  }
}

void raise_semaphores(StoppedProcess& process, const AgentMemory& memory, uint64_t table, std::span<const JumpedSite> sites) {
  std::vector<JumpedSite> chosen;
  std::copy_if(sites.begin(), sites.end(), std::back_inserter(chosen), [](const JumpedSite& one) { return may_raise(one.site); });
  if (chosen.empty()) return;
  const auto left = add_raised(process, memory, table, entries_for(chosen));
  for (const JumpedSite& one : chosen) {
    if (!left)
      one.site->refusal = left.error().message;
    else if (std::any_of(left->begin(), left->end(), [&](const Semaphore& entry) { return is_for(entry, one); }))
      one.site->refusal = "its semaphore has reached its largest value";
  }
}

Status lower_semaphores(StoppedProcess& process, const AgentMemory& memory, uint64_t table, std::span<const uint64_t> jumps) {
  const std::vector<Semaphore> all = entries_of(memory, table);
  const Error busy{"a thread of the process is changing its semaphores"};
  if (std::any_of(all.begin(), all.end(), is_changing) && changes_semaphores(process, memory)) return busy;
  if (!want_lowered(process, memory, table, all, jumps)) return {};
  if (!process.has_joined() && !restricts_calls(process)) {
    const RemoteCall call{kRemoteLower, {entry_at(table, 0), entry_at(table, all.size())}};
    process.prefer_waiting();
    if (make_remote_calls(process, memory, std::span(&call, 1), [] { return false; })) return {};
    if (changes_semaphores(process, memory)) return busy;
  }
  lower_from_outside(memory, table);
  return {};
}

}  // namespace dvm::runtime
