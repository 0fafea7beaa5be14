#pragma once
// Jumps of agents on which kernel uprobes must not lie. The kernel takes the instruction under a breakpoint from its file. On a
// jump, it replaces only the first byte, so execution continues in the middle of the jump's distance.
// Tested by tests/unit/instrument/other_jumps_test.cpp and tests/runtime/scenarios/test_agent_uprobes.py.

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/agent/address_space.h"
#include "runtime/agent/jump_locks.h"
#include "runtime/agent/memory.h"

namespace dvm::runtime {

// Removes the jumps that killed tracers have left. Their guard may be doing the same, and two processes cannot stop a third one
// at once, so this tries for some seconds. After an error, some jumps stay.
constexpr int kClearings = 100;  // one every 50 ms
Status clear_away(pid_t pid, const AgentMemory& memory, int clearings = kClearings);

class OtherJumps {
 public:
  // None.
  OtherJumps() = default;
  // The jumps in a process that is about to be traced by uprobes, after clear_away(). For agents of this dvm, only the bytes of
  // the jumps count, since they leave all other code of a function to uprobes.
  explicit OtherJumps(pid_t pid);
  // The jumps in all processes that dvm may read, after clear_away(); in other PID namespaces, those that locks show.
  static OtherJumps of_all();

  // Why no uprobe may lie at an offset of a file; empty: one may.
  std::string_view refusal(const std::string& open_path, uint64_t offset) const;

 private:
  using FileId = std::pair<uint64_t, uint64_t>;  // size and time of the last change
  static FileId file_of(const std::string& open_path);
  std::string_view refusal_here(const std::string& open_path, uint64_t offset) const;
  void add(pid_t pid, const AgentMemory& memory, const std::vector<FoundAgent>& agents);

  struct Taken {
    uint64_t offset, bytes;  // in the file
    bool is_own;             // of an agent of this process
    friend auto operator<=>(const Taken&, const Taken&) = default;
  };
  std::map<FileId, std::vector<Taken>> jumps_;
  uint64_t bytes_ = 0;  // that a jump of another agent takes
  int clearings_ = kClearings;
  bool is_of_all_ = false;
  mutable LockedFiles locked_;  // opens each file once
  std::string_view reason_;
};

}  // namespace dvm::runtime
