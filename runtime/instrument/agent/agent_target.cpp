#include "runtime/instrument/agent/agent_target.h"

#include <signal.h>

#include <algorithm>
#include <bit>

#include "runtime/agent/target_check.h"

namespace dvm::runtime {
namespace {

constexpr uint32_t kLanes = 256, kFewLanes = 32;  // few: where all lanes stay in memory, used or not, or room is scarce
constexpr size_t kLeastRing = 64 * 1024, kMostRing = 64 << 20, kShares = 2;  // a share: the ring of a thread

struct LaneSizes {
  uint32_t lanes, ring_bytes;
};

// At most a quarter of the address space that the process has left, if there is a limit.
LaneSizes sizes_for(pid_t pid, uint32_t ring_bytes) {
  constexpr auto kLeast = static_cast<uint32_t>(kLeastRing);
  if (locks_memory(pid)) return {kFewLanes, kLeast};
  LaneSizes sizes{kLanes, ring_bytes};
  const uint64_t room = free_address_space(pid) / 4;
  while (inside::data_bytes(sizes.lanes, sizes.ring_bytes) > room && sizes.lanes > kFewLanes)
    (sizes.ring_bytes > kLeast ? sizes.ring_bytes : sizes.lanes) /= 2;
  return sizes;
}

}  // namespace

uint32_t thread_share(size_t ring_bytes) {
  return static_cast<uint32_t>(std::bit_floor(std::clamp(ring_bytes / kShares, kLeastRing, kMostRing)));
}

Result<AgentProcess> open_agent_process(pid_t pid, uint32_t ring_bytes, bool follows) {
  const LaneSizes sizes = sizes_for(pid, ring_bytes);
  return AgentProcess::open(pid, sizes.lanes, sizes.ring_bytes, follows);
}

void AgentTarget::read(StackCheck check) {
  const inside::Context& context = agent.context();
  lanes = std::make_unique<LaneReader>(agent.data_file(), context.lanes, context.ring_bytes);
  arenas = std::make_unique<ArenaReader>(agent.data_file(), context.lanes, context.ring_bytes, std::move(check));
}

bool AgentTarget::has_crashed() {
  if (!agent.is_on() || !process || !process->has_exited()) return false;
  const std::optional<Ending> ending = process->ending();
  return ending && (ending->signal == SIGSEGV || ending->signal == SIGBUS);
}

// Most often it is the cookie that was asked for last.
bool AgentTarget::has_cookie(uint64_t cookie) {
  if (cookie == known_cookie) return true;
  if (!cookies.contains(cookie)) return false;
  known_cookie = cookie;
  return true;
}

}  // namespace dvm::runtime
