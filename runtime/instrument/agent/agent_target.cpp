#include "runtime/instrument/agent/agent_target.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "common/clock.h"
#include "runtime/agent/detach.h"
#include "runtime/agent/target_check.h"

namespace dvm::runtime {
namespace {

constexpr uint32_t kLanes = 256, kFewLanes = 32;  // few: where all lanes stay in memory, used or not, or room is scarce
constexpr size_t kLeastRing = 64 * 1024, kMostRing = 64 << 20, kShares = 2;  // a share: the ring of a thread

struct LaneSizes {
  uint32_t lanes, ring_bytes;
};

// A small part of the address space that the process has left, if there is a limit: the program may need the rest.
LaneSizes sizes_for(pid_t pid, uint32_t ring_bytes) {
  constexpr auto kLeast = static_cast<uint32_t>(kLeastRing);
  constexpr uint64_t kPartOfSpace = 16;
  if (locks_memory(pid)) return {kFewLanes, kLeast};
  LaneSizes sizes{kLanes, ring_bytes};
  const uint64_t room = free_address_space(pid) / kPartOfSpace;
  while (inside::data_bytes(sizes.lanes, sizes.ring_bytes) > room && sizes.lanes > kFewLanes)
    (sizes.ring_bytes > kLeast ? sizes.ring_bytes : sizes.lanes) /= 2;
  return sizes;
}

}  // namespace

bool has_step(const AgentFirer& firer, inside::ClauseStep::Kind kind) {
  return std::any_of(firer.steps.begin(), firer.steps.end(), [&](const AgentStep& one) { return one.step.kind == kind; });
}

bool has_step(const AgentSite& site, inside::ClauseStep::Kind kind) {
  return std::any_of(site.firers.begin(), site.firers.end(), [&](const AgentFirer& firer) { return has_step(firer, kind); });
}

bool has_stack(const AgentSite& site) {
  const auto is_stack = [](const AgentKey& key) { return key.key.kind == inside::KeyKind::stack; };
  return std::any_of(site.firers.begin(), site.firers.end(), [&](const AgentFirer& firer) {
    return std::any_of(firer.steps.begin(), firer.steps.end(), [&](const AgentStep& step) {
      return std::any_of(step.aggregation.keys.begin(), step.aggregation.keys.end(), is_stack);
    });
  });
}

uint32_t thread_share(size_t ring_bytes) {
  return static_cast<uint32_t>(std::bit_floor(std::clamp(ring_bytes / kShares, kLeastRing, kMostRing)));
}

Result<AgentProcess> open_agent_process(pid_t pid, uint32_t ring_bytes, bool follows) {
  const LaneSizes sizes = sizes_for(pid, ring_bytes);
  return AgentProcess::open(pid, sizes.lanes, sizes.ring_bytes, follows);
}

std::vector<EnabledProbe> fit_for_agents(std::span<const EnabledProbe> probes, bool follows, std::vector<Refused>& refused) {
  std::vector<EnabledProbe> fit;
  std::map<int32_t, Status> checked;
  for (const EnabledProbe& one : probes) {
    const int32_t pid = std::get<UprobeSite>(one.probe->site).pid;
    const auto [process, is_new] = checked.try_emplace(pid);
    if (is_new) process->second = check_target(pid, follows);
    if (process->second)
      fit.push_back(one);
    else
      refused.push_back({one.probe, process->second.error().message});
  }
  return fit;
}

void AgentTarget::read(StackCheck check) {
  const inside::Context& context = agent.context();
  lanes = std::make_unique<LaneReader>(agent.data_file(), context.lanes, context.ring_bytes, &ids);
  arenas = std::make_unique<ArenaReader>(agent.data_file(), context.lanes, context.ring_bytes, std::move(check));
}

bool AgentTarget::has_crashed() {
  if (!agent.is_on() || has_become_other || !process || !process->has_exited()) return false;
  const std::optional<Ending> ending = process->ending();
  return ending && (ending->signal == SIGSEGV || ending->signal == SIGBUS);
}

bool AgentTarget::is_over() const {
  uint64_t armed = 0;
  return agent.context().armed == 0 ? agent.memory().is_gone() : !agent.memory().read_object(agent.context().armed, armed);
}

// One whose file has been mapped again already differs from its sample.
void AgentTarget::note_jumps() {
  constexpr uint8_t kJump = 0xe9, kShortJump = 0xeb, kBreakpoint = 0xcc;
  for (const auto& [module, address] : placed.samples()) {
    uint8_t opcode = 0;
    uint32_t& sample = samples[address];
    agent.memory().read_object(address + 1, sample);
    agent.memory().read_object(address, opcode);
    if (opcode != kJump && opcode != kShortJump && opcode != kBreakpoint) sample = ~sample;
  }
}

std::vector<PlacedProbe> AgentTarget::take_lost() {
  const bool are_there = std::all_of(samples.begin(), samples.end(), [&](const auto& one) {
    uint32_t now = 0;
    return agent.memory().read_object(one.first + 1, now) && now == one.second;
  });
  if (are_there) return {};
  std::vector<uint64_t> jumps;
  for (const FoundAgent& one : find_agents(agent.pid(), agent.memory())) {
    if (!is_of_tracer(one, getpid())) continue;
    const std::vector<uint64_t> its = held_jumps_of(agent.memory(), one);
    jumps.insert(jumps.end(), its.begin(), its.end());
  }
  std::sort(jumps.begin(), jumps.end());
  std::vector<PlacedProbe> lost = placed.take_lost(jumps);
  samples.clear();
  note_jumps();
  return lost;
}

std::vector<PlacedProbe> AgentTarget::take_off(SignalSet handled) { return take_off(faults.with(handled, placed)); }

std::vector<PlacedProbe> AgentTarget::take_off(std::span<const uint64_t> some) {
  const std::vector<uint64_t> jumps = faults.with(some, placed);
  if (!agent.take_off(jumps)) return {};
  faults.forget(jumps);
  std::vector<PlacedProbe> probes = placed.take_lost(faults.addresses());
  samples.clear();
  note_jumps();
  return probes;
}

void AgentTarget::note_unsteady(const std::string& why, bool is_said) {
  if (is_said) said_unsteady = why;
  if (why != said_unsteady) unsteady = why;
}

void AgentTarget::serve() {
  if (stacks) stacks->answer();
  const uint64_t now = read_clock(CLOCK_MONOTONIC);
  agent.refresh_steady(now);
  agent.unmap_left(now);
}

void AgentTarget::place(const EnabledProbe& probe, uint64_t address, FileKeys& files) {
  placed.add(probe, address, files);
  has_thread_variables |= probe.has_thread_variables;
}

bool AgentTarget::place_variables(inside::VariablesIn where) {
  agent.place_variables(where);
  const bool were_here = std::exchange(has_variables, where == inside::VariablesIn::thread);
  return were_here && !has_variables && has_thread_variables;
}

void AgentTarget::expect_records(const AgentSite& site) {
  for (const AgentFirer& firer : site.firers) {
    for (const uint64_t cookie : {firer.cookie, firer.larger_cookie})
      if (cookie != 0) cookies.insert(cookie);
    for (const AgentStep& step : firer.steps)
      if (is_any_record(step)) records.insert(step.record.record.number);
  }
}

// Most often it is the cookie that was asked for last.
bool AgentTarget::has_cookie(uint64_t cookie) {
  if (cookie == known_cookie) return true;
  if (!cookies.contains(cookie)) return false;
  known_cookie = cookie;
  return true;
}

}  // namespace dvm::runtime
