// Tested by tests/runtime/scenarios/test_agent_caught.py.

#include "runtime/agent/caught_signals.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "runtime/agent/remote_calls.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

using inside::CaughtActions;
using inside::KernelAction;
using Actions = std::array<KernelAction, inside::kCaughtCount>;

constexpr uint64_t kSigaction = 13, kMaskBytes = 8;

RemoteCall call_for(uint64_t signal, uint64_t set, uint64_t found) {
  return {kSigaction, {signal, set, found, kMaskBytes, 0, 0}};
}

uint64_t found_at(uint64_t armed, size_t number) {
  return armed + offsetof(inside::ArmedPage, catching) + offsetof(inside::CatchState, found) + number * sizeof(KernelAction);
}

uint64_t to_set_at(uint64_t actions, size_t number) {
  return actions + offsetof(CaughtActions, to_set) + number * sizeof(KernelAction);
}

// Sets, unless `actions` is 0, what CaughtActions::to_set says, and reads what is then set. Empty: it is not known.
std::vector<KernelAction> run_calls(StoppedProcess& process, const AgentMemory& memory, uint64_t armed, uint64_t actions) {
  std::vector<KernelAction> found(inside::kCaughtCount, {UINT64_MAX, 0, 0, 0});
  if (!memory.write(found_at(armed, 0), std::as_bytes(std::span(found)))) return {};
  std::vector<RemoteCall> calls;
  for (size_t i = 0; i < inside::kCaughtCount; i++) {
    const uint64_t signal = inside::kCaughtSignals[i];
    if (actions != 0) calls.push_back(call_for(signal, to_set_at(actions, i), 0));
    calls.push_back(call_for(signal, 0, found_at(armed, i)));
  }
  process.prefer_waiting();
  if (!make_remote_calls(process, memory, calls, [] { return false; })) return {};
  if (!memory.read(found_at(armed, 0), std::as_writable_bytes(std::span(found)))) return {};
  const bool is_known = std::none_of(found.begin(), found.end(), [](const auto& one) { return one.handler == UINT64_MAX; });
  return is_known ? found : std::vector<KernelAction>();
}

bool is_replaceable(const KernelAction& action, std::span<const FoundAgent> agents) {
  if (action.handler == inside::kDefault) return true;
  const bool is_of_agent = std::any_of(agents.begin(), agents.end(), [&](const FoundAgent& one) {
    return action.handler >= one.range.begin && action.handler < one.range.end;
  });
  return action.handler != inside::kIgnored && !is_of_agent &&
         (action.flags & (inside::kActionOnStack | inside::kActionOnce)) == 0 && (action.flags & inside::kActionRestorer) != 0;
}

KernelAction caught(const KernelAction& before, uint64_t handler, uint64_t restorer) {
  if (before.handler == inside::kDefault) return {handler, inside::kActionInfo | inside::kActionRestorer, restorer, 0};
  return {handler, before.flags | inside::kActionInfo, before.restorer, before.mask};
}

uint64_t actions_of(const FoundAgent& agent) { return agent.range.begin + inside::kActionsAt; }
uint64_t actions_of(const inside::Context& context) { return context.own + inside::kActionsAt - inside::kOwnAt; }

// Which only the handler of dvm handles, unless the program has its own actions back.
uint64_t signals_by(const CaughtActions& actions, const AgentMemory& memory, uint64_t armed) {
  uint64_t signals = 0, is_on = 0;
  memory.read_object(armed + offsetof(inside::ArmedPage, catching) + offsetof(inside::CatchState, is_on), is_on);
  if (is_on == 0) return 0;
  for (size_t i = 0; i < inside::kCaughtCount; i++)
    if (actions.before[i].handler == inside::kDefault) signals |= uint64_t{1} << (inside::kCaughtSignals[i] - 1);
  return signals;
}

bool is_placed(const FoundAgent& agent, const AgentMemory& memory, CaughtActions& actions) {
  return agent.header.bytes != 0 && memory.read_object(actions_of(agent), actions) && actions.handler > agent.range.begin &&
         actions.handler < agent.range.end;
}

}  // namespace

void catch_faults(StoppedProcess& process, const AgentMemory& memory, const inside::Context& context, uint64_t restorer) {
  const uint64_t actions_at = actions_of(context);
  const std::vector<FoundAgent> agents = find_agents(process.pid(), memory);
  const std::vector<KernelAction> before = run_calls(process, memory, context.armed, 0);
  const auto is_fit = [&](const KernelAction& one) { return is_replaceable(one, agents); };
  if (before.empty() || !std::all_of(before.begin(), before.end(), is_fit)) return;
  CaughtActions actions{.handler = context.handler};
  for (size_t i = 0; i < inside::kCaughtCount; i++) {
    actions.before[i] = before[i];
    actions.to_set[i] = caught(before[i], context.handler, restorer);
  }
  if (!memory.write_object(actions_at, actions)) return;
  const std::vector<KernelAction> now = run_calls(process, memory, context.armed, actions_at);
  const auto is_ours = [&](const KernelAction& one) { return one.handler == context.handler; };
  if (now.empty() || !std::all_of(now.begin(), now.end(), is_ours)) return;
  const uint64_t is_on = 1;
  memory.write_object(context.armed + offsetof(inside::ArmedPage, catching) + offsetof(inside::CatchState, is_on), is_on);
}

bool give_actions_back(StoppedProcess& process, const AgentMemory& memory, std::span<const FoundAgent> agents) {
  for (const FoundAgent& agent : agents) {
    CaughtActions actions;
    if (!is_placed(agent, memory, actions)) continue;
    const std::vector<KernelAction> found = run_calls(process, memory, agent.header.armed, 0);
    if (found.empty()) return false;
    bool is_any = false;
    for (size_t i = 0; i < inside::kCaughtCount; i++) {
      const bool is_ours = found[i].handler == actions.handler;
      actions.to_set[i] = is_ours ? actions.before[i] : found[i];
      is_any |= is_ours;
    }
    if (!is_any) continue;
    if (!memory.write_object(actions_of(agent), actions)) return false;
    const std::vector<KernelAction> now = run_calls(process, memory, agent.header.armed, actions_of(agent));
    const auto is_ours = [&](const KernelAction& one) { return one.handler == actions.handler; };
    if (now.empty() || std::any_of(now.begin(), now.end(), is_ours)) return false;
  }
  return true;
}

uint64_t signals_of_program(pid_t pid, const AgentMemory& memory) {
  uint64_t signals = handled_signals(pid);
  for (const FoundAgent& agent : find_agents(pid, memory)) {
    CaughtActions actions;
    if (is_placed(agent, memory, actions)) signals &= ~signals_by(actions, memory, agent.header.armed);
  }
  return signals;
}

uint64_t signals_of_program(const inside::Context& context, const AgentMemory& memory) {
  const uint64_t signals = handled_signals(context.pid);
  CaughtActions actions;
  const bool is_known = context.handler != 0 && memory.read_object(actions_of(context), actions);
  return is_known && actions.handler == context.handler ? signals & ~signals_by(actions, memory, context.armed) : signals;
}

}  // namespace dvm::runtime
