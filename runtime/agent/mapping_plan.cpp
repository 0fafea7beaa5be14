// Tested by tests/unit/instrument/killed_tracer_test.cpp and tests/runtime/scenarios/test_agent_memory.py.

#include "runtime/agent/mapping_plan.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <optional>

#include "runtime/agent/tracers.h"
#include "runtime/agent/unstopped.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kPlanPageBytes = 4096;
constexpr size_t kMostLooked = 64;  // a process may have made any number of such files itself

bool is_zero(const AgentMemory& memory, const AddressRange& range) {
  std::vector<std::byte> content(range.end - range.begin);
  return memory.read(range.begin, content) &&
         std::all_of(content.begin(), content.end(), [](std::byte b) { return b == std::byte{}; });
}

// Without a file, and of one process.
bool is_mapped(const std::vector<MemoryMapping>& mappings, const AddressRange& range, bool is_code) {
  const MemoryMapping* its = mapping_at(mappings, range.begin);
  return its != nullptr && its->range.begin == range.begin && its->range.end == range.end && its->is_executable == is_code &&
         its->is_writable != is_code && its->path.empty() && !its->is_shared;
}

std::optional<MappingPlan> plan_in(const AgentMemory& memory, const AddressRange& data, pid_t tracer) {
  MappingPlan plan;
  const bool is_one = data.end - data.begin >= sizeof plan && memory.read_object(plan_at(data), plan) && plan.magic == kPlanMagic;
  return is_one && plan.tracer == tracer ? std::optional(plan) : std::nullopt;
}

bool is_traced_by(pid_t tracer, const std::optional<MappingPlan>& plan) {
  if (!plan) return kill(tracer, 0) == 0 || errno != ESRCH;
  FoundAgent its{};
  its.header.tracer = tracer, its.header.tracer_began = plan->tracer_began, its.header.tracer_space = plan->tracer_space;
  return is_traced(its);
}

}  // namespace

MappingPlan plan_of(std::span<const AddressRange> code) {
  MappingPlan plan{.tracer = tracer_pid(), .tracer_space = pid_space("self"), .tracer_began = start_time(tracer_pid())};
  for (const AddressRange& one : code)
    if (plan.count < kMostPlanned) plan.code[plan.count++] = {one.begin, one.end};
  return plan;
}

// Of code, the first page has the header, which is written last.
UnwrittenMappings unwritten_of(const AgentMemory& memory, const std::vector<MemoryMapping>& mappings, uint64_t data,
                               const MappingPlan& plan) {
  UnwrittenMappings found;
  for (uint64_t i = 0; i < std::min(plan.count, kMostPlanned); i++) {
    const AddressRange code{plan.code[i].begin, plan.code[i].end};
    if (is_mapped(mappings, code, true) && is_zero(memory, {code.begin, code.begin + kPlanPageBytes})) found.code.push_back(code);
  }
  const uint64_t semaphores = data - inside::kSemaphoreBytes, armed = data - inside::semaphores_at(inside::kSemaphoreBytes);
  for (const AddressRange& one : {AddressRange{armed, semaphores}, AddressRange{semaphores, data}})
    if (is_mapped(mappings, one, false) && is_zero(memory, one)) found.around.push_back(one);
  return found;
}

std::vector<AddressRange> orphaned_ranges(pid_t pid, const AgentMemory& memory, pid_t ended) {
  std::vector<AddressRange> found;
  const auto mappings = mappings_of(pid);
  if (!mappings) return found;
  const std::vector<FoundAgent> agents = find_agents(pid, memory);
  const auto add = [&](const std::vector<AddressRange>& some) { found.insert(found.end(), some.begin(), some.end()); };
  size_t looked = 0;
  for (const MemoryMapping& one : *mappings) {
    if (!one.path.starts_with(kDataName) || looked++ >= kMostLooked) continue;
    const pid_t tracer = std::atoi(one.path.c_str() + kDataName.size());
    const auto plan = plan_in(memory, one.range, tracer);
    const bool has_given_up = plan && tracer == ended;
    if (!has_given_up && is_traced_by(tracer, plan)) continue;
    const UnwrittenMappings its = unwritten_of(memory, *mappings, one.range.begin, plan.value_or(MappingPlan{}));
    add(its.code);
    const auto refers_to_it = [&](const FoundAgent& agent) { return agent.header.data == one.range.begin; };
    if (std::any_of(agents.begin(), agents.end(), refers_to_it)) continue;
    add(its.around);
    found.push_back(one.range);
  }
  return found;
}

}  // namespace dvm::runtime
