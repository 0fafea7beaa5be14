#pragma once
// Collects refusals, one for each probe.

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "runtime/instrument/agent/agent_planner.h"

namespace dvm::runtime {

// A probe may have several sites, all of which are refused. It is refused once, so that one other instrument takes it.
class RefusedOnce {
 public:
  explicit RefusedOnce(std::vector<Refused>& refused) : refused_(refused) {}
  void add(const AgentPlannedSite& site, std::string_view why) {
    for (const Probe* probe : site.probes)
      if (known_.insert(probe).second) refused_.push_back({probe, std::string(why)});
  }

 private:
  std::vector<Refused>& refused_;
  std::unordered_set<const Probe*> known_;
};

// Those that are left to other instruments.
inline std::vector<const EnabledProbe*> refused_of(std::span<const EnabledProbe> probes, std::span<const Refused> refused) {
  std::unordered_set<const Probe*> all;
  for (const Refused& one : refused) all.insert(one.probe);
  std::vector<const EnabledProbe*> found;
  for (const EnabledProbe& one : probes)
    if (all.contains(one.probe)) found.push_back(&one);
  return found;
}

}  // namespace dvm::runtime
