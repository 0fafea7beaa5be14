#pragma once
// Jumps of agents in the way of uprobes. Tested by tests/runtime/scenarios/test_agent_uprobes.py.

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/agent/other_jumps.h"
#include "runtime/instrument/instrument.h"
#include "runtime/instrument/uprobe/site_plan.h"

namespace dvm::runtime {

class AgentJumps {
 public:
  // in_all: uprobes that follow forks lie in all processes.
  explicit AgentJumps(bool in_all) : all_(in_all ? OtherJumps::of_all() : OtherJumps()) {}

  // Why no uprobe may lie at an offset of a file; empty: one may.
  std::string_view refusal(int32_t pid, const std::string& path, uint64_t offset);
  // The probes of which a place is refused, each noted once.
  std::set<const Probe*> refuse(std::span<const PlannedSite> places, std::vector<Refused>& refused);

 private:
  OtherJumps all_;
  std::map<int32_t, OtherJumps> traced_;
};

}  // namespace dvm::runtime
