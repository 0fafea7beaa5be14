#include "runtime/instrument/agent/left_programs.h"

#include "runtime/agent/detach.h"

namespace dvm::runtime {
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

}  // namespace dvm::runtime
