// Tested by tests/unit/instrument/semaphores_test.cpp and tests/runtime/scenarios/test_agent_semaphores.py.

#include "runtime/agent/semaphores.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "runtime/agent/inside/format.h"
#include "runtime/agent/remote_calls.h"
#include "runtime/agent/remote_room.h"
#include "runtime/agent/signal_frames.h"
#include "runtime/agent/target_check.h"

namespace dvm::runtime {
namespace {

using inside::Semaphore;
using State = inside::SemaphoreState;

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

bool set_state(const AgentMemory& memory, uint64_t table, size_t number, State state) {
  return memory.write_object(entry_at(table, number) + offsetof(Semaphore, state), state);
}

bool is_raised(const Semaphore& one) { return one.state == State::raised || one.state == State::wanted; }
bool is_changing(const Semaphore& one) { return one.state == State::raising || one.state == State::lowering; }

// Its jump lies in the code, maybe with another opcode that a breakpoint has put there.
bool has_jump(const AgentMemory& memory, const Semaphore& one) {
  uint32_t distance = 0;
  const auto bytes = std::as_writable_bytes(std::span(&distance, 1));
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
    if (all[i].state != State::wanted || !set_state(memory, table, i, State::off)) continue;
    if (memory.read_object(all[i].counter, now) && now != 0) memory.write_object(all[i].counter, static_cast<uint16_t>(now - 1));
  }
}

// Marks what is to be lowered. False: nothing is.
bool want_lowered(const StoppedProcess& process, const AgentMemory& memory, uint64_t table, const std::vector<Semaphore>& all,
                  std::span<const uint64_t> jumps) {
  const auto mappings = mappings_of(process.pid());
  bool any = false;
  for (size_t i = 0; mappings && i < all.size(); i++) {
    const bool is_asked = jumps.empty() || std::binary_search(jumps.begin(), jumps.end(), all[i].jump);
    if (!is_asked || !is_raised(all[i]) || !has_jump(memory, all[i])) continue;
    if (semaphore_refusal(*mappings, all[i].counter).empty()) any |= set_state(memory, table, i, State::wanted);
  }
  return any;
}

}  // namespace

std::string_view semaphore_refusal(const std::vector<MemoryMapping>& mappings, uint64_t address) {
  const MemoryMapping* mapping = mapping_at(mappings, address);
  if (mapping == nullptr) return "its semaphore lies in no memory of the process";
  if (!mapping->is_writable) return "its semaphore lies in memory that the program may not write";
  if (mapping->is_shared) return "its semaphore lies in memory that other processes share";
  if (address % sizeof(uint16_t) != 0) return "its semaphore lies at an odd address";
  return {};
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
