#include "runtime/instrument/agent/left_programs.h"

#include <algorithm>

#include "runtime/agent/detach.h"

namespace dvm::runtime {
namespace {

bool is_empty(const AgentTarget& target, bool aggregates) {
  return target.is_left && (target.is_read || !aggregates) && (!target.lanes || target.lanes->is_empty());
}

}  // namespace

// Its probes are to be found first, since they wait for their files then.
void LeftPrograms::end(AgentTargets& targets, pid_t pid) {
  const auto [first, last] = targets.equal_range(pid);
  for (auto one = first; one != last; ++one) {
    AgentTarget& target = *one->second;
    const bool has_probes = target.agent.is_on() && !target.placed.samples().empty();
    if (!target.is_left && !has_probes && target.is_over())
      target.is_left = static_cast<bool>(target.agent.disable(Mappings::keep));
  }
}

void LeftPrograms::note_read(AgentTargets& targets) {
  for (auto& [pid, target] : targets) target->is_read = target->is_left;
}

bool LeftPrograms::are_many(const AgentTargets& targets) {
  constexpr auto kMany = 4;
  return std::count_if(targets.begin(), targets.end(), [](const auto& one) { return one.second->is_left; }) > kMany;
}

void LeftPrograms::free(AgentTargets& targets, bool aggregates, GoneThreads& gone) {
  for (auto one = targets.begin(); one != targets.end();) {
    AgentTarget& target = *one->second;
    if (!is_empty(target, aggregates)) {
      ++one;
      continue;
    }
    if (target.lanes) gone.free_lanes(one->first, *target.lanes);
    lost_ += target.lost();
    one = targets.erase(one);
  }
}

}  // namespace dvm::runtime
