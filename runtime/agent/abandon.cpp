#include "runtime/agent/abandon.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/agent/address_space.h"
#include "runtime/agent/detach.h"
#include "runtime/agent/remote_calls.h"
#include "runtime/agent/stopped_process.h"
#include "runtime/agent/target_check.h"
#include "runtime/agent/unmap.h"
#include "runtime/agent/unstopped.h"

namespace dvm::runtime {
namespace {

std::vector<FoundAgent> agents_of(pid_t pid, const AgentMemory& memory, pid_t tracer) {
  std::vector<FoundAgent> agents = find_agents(pid, memory);
  std::erase_if(agents, [&](const FoundAgent& one) { return !is_of_tracer(one, tracer) || one.header.data == 0; });
  return agents;
}

// A followed child has the lanes of its parent, and waits for an answer of its own.
bool waits(const AgentMemory& memory, const FoundAgent& agent) {
  inside::ArmedPage page;
  return memory.read_object(agent.header.armed, page) && page.asked == inside::kLeaving;
}

// The process may have mapped something else there.
bool has_lanes_at(pid_t pid, uint64_t address) {
  const auto mappings = mappings_of(pid);
  const MemoryMapping* found = mappings ? mapping_at(*mappings, address) : nullptr;
  return found != nullptr && found->path.starts_with(std::string("/memfd:") + kRemoteTextBegins);
}

// No jump leads to the agent any more, so a thread that does not use the lanes now never will. False: another one uses them.
bool is_abandoned(pid_t pid, const AgentMemory& memory, pid_t tracer) {
  const auto stopped = StoppedProcess::stop_or_join(pid);
  if (!stopped || stopped->has_joined() || shares_memory(pid)) return false;
  const std::vector<FoundAgent> own = agents_of(pid, memory, tracer);
  inside::ArmedPage page;
  if (own.empty() || !waits(memory, own.front()) || !memory.read_object(own.front().header.armed, page)) return false;
  const auto has_jumps = [&](const FoundAgent& one) { return !jumps_of(memory, one).empty(); };
  if (std::any_of(own.begin(), own.end(), has_jumps) || are_used(*stopped, memory, own, page.leavers)) return false;
  const inside::CodeHeader& header = own.front().header;
  return has_lanes_at(pid, header.data) &&
         memory.write_object(header.armed + offsetof(inside::ArmedPage, asked), inside::kAbandoned);
}

}  // namespace

// The jump at an unwinder goes, too, which stays otherwise while a thread is in code of the agent.
void abandon_lanes(pid_t pid, const AgentMemory& memory, pid_t tracer, int tries) {
  constexpr useconds_t kFirstWait = 1000;
  const std::vector<FoundAgent> all = agents_of(pid, memory, tracer);
  if (all.empty() || !waits(memory, all.front())) return;
  (void)detach_agents(pid, memory, WhichAgents::of_this_tracer, tracer, Mappings::keep);
  for (int i = 0; i < tries; i++) {
    const std::vector<FoundAgent> own = agents_of(pid, memory, tracer);
    if (own.empty() || !waits(memory, own.front()) || is_abandoned(pid, memory, tracer)) return;
    usleep(kFirstWait << i);
  }
}

void abandon_all_lanes(pid_t tracer, pid_t owner, int tries) {
  const auto has_them = [&](pid_t pid, const AgentMemory& memory) {
    const std::vector<FoundAgent> agents = agents_of(pid, memory, tracer);
    return std::any_of(agents.begin(), agents.end(), [&](const FoundAgent& one) { return one.header.pid == owner; });
  };
  for (const pid_t pid : processes_of(tracer)) {
    const auto memory = AgentMemory::open(pid);
    if (!memory || (owner != 0 && !has_them(pid, *memory))) continue;
    work_unstopped(pid, [&] { abandon_lanes(pid, *memory, tracer, tries); });
  }
}

}  // namespace dvm::runtime
