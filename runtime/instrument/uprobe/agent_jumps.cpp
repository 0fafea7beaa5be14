#include "runtime/instrument/uprobe/agent_jumps.h"

namespace dvm::runtime {

std::string_view AgentJumps::refusal(int32_t pid, const std::string& path, uint64_t offset) {
  const std::string_view here = traced_.try_emplace(pid, pid).first->second.refusal(path, offset);
  return here.empty() ? all_.refusal(path, offset) : here;
}

std::set<const Probe*> AgentJumps::refuse(std::span<const PlannedSite> places, std::vector<Refused>& refused) {
  std::set<const Probe*> found;
  for (const PlannedSite& place : places) {
    const std::string_view why = refusal(place.site->pid, place.site->path, place.offset);
    const Probe* const probe = place.enabled->probe;
    if (!why.empty() && found.insert(probe).second) refused.push_back({probe, std::string(why)});
  }
  return found;
}

}  // namespace dvm::runtime
