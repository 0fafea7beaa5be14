#pragma once
// Looks for jumps of an agent that uprobes of other tools have disturbed (patches.h). Those in code that the agent watches are
// looked at each time, the others in turn.
// Tested by tests/unit/instrument/detach_test.cpp and tests/runtime/scenarios/test_agent_uprobes.py.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "runtime/agent/agent_site.h"
#include "runtime/agent/inside/format.h"
#include "runtime/agent/memory.h"

namespace dvm::runtime {

class DisturbedJumps {
 public:
  void add(const inside::Patch& patch, const AgentSite& site);
  void remove(std::span<const uint64_t> jumps);
  void clear() { *this = {}; }
  // Addresses, sorted. A debugger that traces the process may have a breakpoint there instead.
  std::vector<uint64_t> find(const AgentMemory& memory);
  // True if the agent must not stay in the process without one of these: nobody would tell when the process restricts its system
  // calls, or takes away memory of the agent.
  bool must_leave(std::span<const uint64_t> jumps) const;

 private:
  struct Watched {
    inside::Patch patch;
    inside::Watch watch;
  };
  std::map<uint64_t, Watched> watched_;
  std::map<uint64_t, inside::Patch> others_;
  uint64_t next_ = 0;  // of the others
};

}  // namespace dvm::runtime
