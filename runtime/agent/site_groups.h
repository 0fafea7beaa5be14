#pragma once
// Sites that are placed together, or not at all: those of a function, and those of a probe. A probe that an agent refuses goes to
// a uprobe or a breakpoint, which may lie anywhere in its function. There it must not meet a jump.
//
// Tested by tests/unit/instrument/site_groups_test.cpp.

#include <cstddef>
#include <string_view>
#include <vector>

#include "runtime/agent/agent_site.h"

namespace dvm::runtime {

inline constexpr std::string_view kNotAlone =
    "another probe of its function cannot be placed by an agent, and a function is probed in one way only";

class SiteGroups {
 public:
  // sites: all of a process. They must not move in memory.
  explicit SiteGroups(std::vector<AgentSite>& sites);

  size_t of(const AgentSite& site) const { return root(static_cast<size_t>(&site - sites_.data())); }
  // Refuses all sites of each group with a refusal.
  void refuse_together();

 private:
  size_t root(size_t site) const;

  std::vector<AgentSite>& sites_;
  std::vector<size_t> parents_;  // a site that is a parent of itself stands for its group
};

}  // namespace dvm::runtime
