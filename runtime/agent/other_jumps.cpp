#include "runtime/agent/other_jumps.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "runtime/agent/detach.h"

namespace dvm::runtime {
namespace {

// The instructions that a jump has displaced may reach so far behind its beginning. None of them is executed where it was.
constexpr uint64_t kMostDisplaced = 5 + 15;

}  // namespace

Status clear_away(pid_t pid, const AgentMemory& memory) {
  constexpr int kClearings = 100;
  constexpr useconds_t kBetween = 50'000;
  for (int i = 1;; i++) {
    const auto cleared = detach_agents(pid, memory, WhichAgents::of_dead_tracers);
    if (cleared) return {};
    if (i == kClearings || kill(pid, 0) != 0) return cleared.error();
    usleep(kBetween);
  }
}

OtherJumps::OtherJumps(pid_t pid) {
  const auto memory = AgentMemory::open(pid);
  if (!memory) return;
  std::vector<FoundAgent> agents = find_agents(pid, *memory);
  std::erase_if(
      agents, [](const FoundAgent& one) { return one.header.patches == 0 || (one.header.tracer == getpid() && is_traced(one)); });
  if (agents.empty()) return;
  (void)clear_away(pid, *memory);  // what stays is refused
  for (const FoundAgent& agent : agents) {
    const std::vector<uint64_t> its = jumps_of(*memory, agent);
    jumps_.insert(jumps_.end(), its.begin(), its.end());
  }
  if (jumps_.empty()) return;
  std::sort(jumps_.begin(), jumps_.end());
  if (auto objects = mapped_objects(pid)) objects_ = *std::move(objects);
}

std::string_view OtherJumps::refusal(const std::string& open_path, uint64_t offset) const {
  for (const MappedObject& object : objects_) {
    if (object.open_path != open_path || object.address == 0 || offset < object.offset) continue;
    const uint64_t address = object.address + (offset - object.offset);
    const auto after = std::upper_bound(jumps_.begin(), jumps_.end(), address);
    if (after != jumps_.begin() && address - after[-1] < kMostDisplaced) return "an agent of another dvm has replaced its code";
  }
  return {};
}

}  // namespace dvm::runtime
