// Tested by tests/unit/instrument/detach_test.cpp and tests/runtime/scenarios/test_agent_memory.py.

#include "runtime/agent/unmap.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/agent/mapping_plan.h"
#include "runtime/agent/remote_calls.h"
#include "runtime/agent/remote_room.h"
#include "runtime/agent/signal_frames.h"
#include "runtime/agent/target_check.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kPageBytes = 4096, kMunmap = 11;
constexpr uint32_t kMostLanes = 1 << 16;

AddressRange range_at(uint64_t begin, uint64_t bytes) { return {begin, begin + bytes}; }

bool is_mapped(const std::vector<MemoryMapping>& mappings, const AddressRange& range, bool is_executable, std::string_view name) {
  return std::any_of(mappings.begin(), mappings.end(), [&](const MemoryMapping& one) {
    return one.range.begin == range.begin && one.range.end == range.end && one.is_executable == is_executable &&
           (name.empty() ? one.path.empty() : one.path.starts_with(name));
  });
}

// Code comes last: its header leads to the rest.
std::vector<AddressRange> ranges_of(pid_t pid, std::span<const FoundAgent> agents) {
  std::vector<AddressRange> found;
  const auto mappings = mappings_of(pid);
  if (!mappings) return found;
  const auto add = [&](const AddressRange& range, bool is_code, std::string_view name) {
    const bool is_known = std::any_of(found.begin(), found.end(), [&](auto& one) { return one.begin == range.begin; });
    if (!is_known && is_mapped(*mappings, range, is_code, name)) found.push_back(range);
  };
  for (const FoundAgent& agent : agents) add(range_at(agent.header.data, agent.header.data_bytes), false, kDataName);
  for (const FoundAgent& agent : agents) add(range_at(agent.header.armed, kPageBytes), false, "");
  for (const FoundAgent& agent : agents) add(range_at(agent.header.semaphores, inside::kSemaphoreBytes), false, "");
  for (const FoundAgent& agent : agents) add(range_at(agent.range.begin, agent.header.bytes), true, "");
  return found;
}

// Whether a firing that has taken its lane may still go on: the words of its frame are there.
bool may_go_on(const AgentMemory& memory, const inside::Lane& lane) {
  uint64_t guard = 0;
  if (lane.frame == 0) return true;
  return memory.read_object(lane.frame + inside::kGuardWord * sizeof guard, guard) && guard == inside::kGuard;
}

// A handler that has interrupted a firing may have left its stack, and the firing goes on later.
bool has_taken_lane(const StoppedProcess& process, const AgentMemory& memory, const inside::CodeHeader& header) {
  std::vector<inside::Lane> lanes(std::min(header.lanes, kMostLanes));
  if (!memory.read(header.data + sizeof(inside::DataHeader), std::as_writable_bytes(std::span(lanes)))) return false;
  const auto lives = [&](uint64_t tid) {
    return std::any_of(process.threads().begin(), process.threads().end(),
                       [&](const HeldThread& one) { return static_cast<uint64_t>(own_id(process.pid(), one.tid)) == tid; });
  };
  return std::any_of(lanes.begin(), lanes.end(), [&](const inside::Lane& lane) {
    return lane.turns % 2 != 0 && lives(lane.owner) && may_go_on(memory, lane);
  });
}

// Code that a killed dvm has led a thread into. The thread may be about to unmap this memory itself.
bool clear_remote_code(const StoppedProcess& process, const AgentMemory& memory) {
  const std::vector<AddressRange> pieces = remote_pieces(process.pid(), memory);
  if (pieces.empty()) return true;
  return !may_execute(process, memory, pieces) && restore_remote_rooms(process.pid(), memory);
}

// With what no header refers to.
std::vector<AddressRange> all_ranges(pid_t pid, const AgentMemory& memory, std::span<const FoundAgent> agents, pid_t ended) {
  std::vector<FoundAgent> known(agents.begin(), agents.end());
  std::erase_if(known, [](const FoundAgent& one) { return !has_mappings(one); });
  std::vector<AddressRange> ranges = orphaned_ranges(pid, memory, ended);
  const std::vector<AddressRange> theirs = ranges_of(pid, known);
  ranges.insert(ranges.end(), theirs.begin(), theirs.end());
  return ranges;
}

}  // namespace

bool has_mappings(const FoundAgent& agent) { return agent.header.bytes != 0; }

bool are_used(const StoppedProcess& process, const AgentMemory& memory, std::span<const FoundAgent> agents, size_t but,
              pid_t ended) {
  const std::vector<AddressRange> ranges = all_ranges(process.pid(), memory, agents, ended);
  const auto has_firing = [&](const FoundAgent& one) { return has_mappings(one) && has_taken_lane(process, memory, one.header); };
  return !ranges.empty() && (std::any_of(agents.begin(), agents.end(), has_firing) || may_execute(process, memory, ranges, but));
}

bool unmap_agents(StoppedProcess& process, const AgentMemory& memory, std::span<const FoundAgent> agents, pid_t ended) {
  const std::vector<AddressRange> ranges = all_ranges(process.pid(), memory, agents, ended);
  if (ranges.empty() && remote_pieces(process.pid(), memory).empty()) return true;
  if (shares_memory(process.pid()) || restricts_calls(process)) return false;
  if (!clear_remote_code(process, memory)) return false;
  if (ranges.empty()) return true;
  process.prefer_waiting();
  return unmap_ranges(process, memory, ranges) && all_ranges(process.pid(), memory, agents, ended).empty();
}

bool unmap_ranges(StoppedProcess& process, const AgentMemory& memory, std::span<const AddressRange> ranges) {
  std::vector<RemoteCall> calls;
  for (const AddressRange& one : ranges) calls.push_back({kMunmap, {one.begin, one.end - one.begin, 0, 0, 0, 0}});
  return static_cast<bool>(make_remote_calls(process, memory, calls, [] { return false; }));
}

}  // namespace dvm::runtime
