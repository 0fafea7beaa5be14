#include "runtime/agent/agent_site.h"

namespace dvm::runtime {
namespace {

// Of code, which begins at a multiple of 16, and its unwind information.
size_t room_of(const MachineCode& code) {
  return code.empty() ? 0 : ((code.bytes.size() + 15) & ~size_t{15}) + sizeof(inside::FrameEntry);
}

}  // namespace

size_t AgentStep::bytes() const {
  size_t all = sizeof step + sizeof aggregation.clause + 16 + room_of(code) + room_of(aggregation.value);
  for (const AgentKey& key : aggregation.keys) all += room_of(key.code);
  return all;
}

}  // namespace dvm::runtime
