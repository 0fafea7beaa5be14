// How an AgentProcess takes its jumps off. Tested by tests/runtime/scenarios/test_agent.py.

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "runtime/agent/abandon.h"
#include "runtime/agent/agent_process.h"
#include "runtime/agent/detach.h"
#include "runtime/agent/semaphores.h"
#include "runtime/agent/unstopped.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {

Status AgentProcess::take_off(std::span<const uint64_t> jumps) {
  if (jumps.empty()) return {};
  const Status taken = unstopped(context_.pid, [&]() -> Status {
    auto stopped = StoppedProcess::stop_or_join(context_.pid);
    if (!stopped) return stopped.error();
    if (Status lowered = lower_semaphores(*stopped, memory_, semaphores_at(), jumps); !lowered) return lowered;
    const auto takes = [&](uint64_t jump) { return takers_.contains(jump); };
    if (std::any_of(jumps.begin(), jumps.end(), takes)) end_steady();
    take_jumps_off(context_.pid, memory_, tracer_pid(), jumps);
    return {};
  });
  if (taken) jumps_.remove(jumps);
  if (taken) locks_.remove(jumps);  // now that the threads go on: the process itself may serve the file system (FUSE)
  return taken;
}

// A debugger puts back the byte of a jump that its breakpoint has replaced.
std::vector<uint64_t> AgentProcess::find_disturbed() {
  std::vector<uint64_t> found = is_on_ ? jumps_.find(memory_) : std::vector<uint64_t>();
  const bool is_debugged = !found.empty() && status_field(context_.pid, "TracerPid:") != "0";
  return is_debugged ? std::vector<uint64_t>() : found;
}

void AgentProcess::clear_children() {
  if (context_.follows == 0) work_unstopped(context_.pid, [&] { detach_forked(tracer_pid(), context_.pid); });
}

// All threads stand still, and none is changing a semaphore of this table. Where another way takes over, no jump may stay.
void AgentProcess::take_refused_off(StoppedProcess& stopped, std::span<const JumpedSite> sites) {
  std::vector<uint64_t> refused;
  for (const JumpedSite& one : sites)
    if (!one.site->refusal.empty()) refused.push_back(one.site->window_address);
  if (refused.empty()) return;
  std::sort(refused.begin(), refused.end());
  (void)lower_semaphores(stopped, memory_, semaphores_at(), refused);
  take_jumps_off(context_.pid, memory_, tracer_pid(), refused);
}

Status AgentProcess::disable(Mappings mappings) {
  if (!is_on_ && (!has_mapped_ || mappings == Mappings::keep)) return {};
  const auto detached = unstopped(context_.pid, [&] {
    auto done = detach_agents(context_.pid, memory_, WhichAgents::of_this_tracer, tracer_pid(), mappings);
    if (context_.follows != 0)
      detach_forked(tracer_pid());
    else if (has_semaphores_)
      detach_forked(tracer_pid(), context_.pid);
    return done;
  });
  if (!detached && kill(context_.pid, 0) == 0) return detached.error();
  is_on_ = false;
  jumps_.clear();
  locks_.clear();
  guard_.reset();
  return {};
}

void AgentProcess::abandon_lanes(int tries) {
  if (is_on_) return;
  is_abandoned_ = context_.follows == 0;
  if (!is_abandoned_) return abandon_all_lanes(tracer_pid(), context_.pid, tries);
  work_unstopped(context_.pid, [&] { runtime::abandon_lanes(context_.pid, memory_, tracer_pid(), tries); });
}

bool AgentProcess::is_muted() const {
  uint64_t muted = 0;
  return !memory_.read_object(context_.armed + offsetof(inside::ArmedPage, muted), muted) || muted != 0;
}

}  // namespace dvm::runtime
