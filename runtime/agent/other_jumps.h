#pragma once
// Jumps of other agents in a process that is about to be traced by kernel uprobes. The kernel restores code from its file: on a
// jump it would put back the first byte alone, which leaves code that is neither the one nor the other.
// Tested by tests/runtime/scenarios/test_agent.py.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/agent/memory.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

// Takes off what killed tracers have left. Their guard may be at it, and two cannot stop a process at once, so it is tried for
// some seconds. With an error some of it stays.
Status clear_away(pid_t pid, const AgentMemory& memory);

class OtherJumps {
 public:
  // Clears away first. Those of this process's own agents do not count.
  explicit OtherJumps(pid_t pid);
  // Why no uprobe may lie at an offset of a file; empty: one may.
  std::string_view refusal(const std::string& open_path, uint64_t offset) const;

 private:
  std::vector<MappedObject> objects_;
  std::vector<uint64_t> jumps_;
};

}  // namespace dvm::runtime
