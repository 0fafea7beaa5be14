#include "runtime/instrument/agent/load_holds.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "common/file_bytes.h"
#include "runtime/instrument/agent/agent_notes.h"
#include "runtime/instrument/agent/load_turns.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {
namespace {

uint64_t place_of(const AgentTarget& target, size_t field) {
  const inside::Context& context = target.agent.context();
  return inside::loads_at(context.lanes, context.ring_bytes) + field;
}

inside::LoadTurns turns_of(const AgentTarget& target) {
  inside::LoadTurns turns;
  read_value(target.agent.data_file(), place_of(target, 0), turns);
  return turns;
}

void write_turn(const AgentTarget& target, size_t field, uint64_t value) {
  write_value(target.agent.data_file(), place_of(target, field), value);
}

bool may_wait(const AgentTarget& target) { return target.lanes && target.agent.is_on() && !target.is_over(); }

}  // namespace

void LoadHolds::watch(const AgentTargets& targets) {
  for (const auto& [pid, target] : targets)
    if (may_wait(*target) && !std::exchange(target->watches_loads, true)) begin(*target);
}

Status LoadHolds::watch(const AgentTargets& targets, const LinkerSite& linker) {
  watch(targets);
  const AgentTarget* target = live_target(targets, linker.pid);
  unwatched_.erase(linker.pid);
  const bool is_watched = linker.path.empty() || (target != nullptr && target->agent.watches(inside::Watch::load));
  return is_watched ? Status() : Error{std::string(kUnwatchedLinker)};
}

void LoadHolds::begin(AgentTarget& target) {
  const auto objects = mapped_objects(target.agent.pid());
  const auto linker = objects ? find_linker(target.agent.pid(), *objects, linkers_) : std::nullopt;
  if (!linker) return;
  if (!target.agent.watches(inside::Watch::load)) unwatched_.insert(target.agent.pid());
  for (const MappedObject& object : *objects)
    if (object.open_path == linker->path && object.address != 0)
      write_turn(target, offsetof(inside::LoadTurns, state),
                 object.address + linker->offset - object.offset + static_cast<uint64_t>(linker->state));
}

void LoadHolds::note_late(AgentTarget& target, const inside::LoadTurns& turns) {
  late_ += late_since(turns, std::exchange(target.late_loads, turns.late));
}

void LoadHolds::take(const AgentTargets& targets, std::vector<LoadedIn>& loads) {
  watch(targets);
  for (const auto& [pid, target] : targets) {
    if (!may_wait(*target)) continue;
    const inside::LoadTurns turns = turns_of(*target);
    note_late(*target, turns);
    const uint64_t begun = turns.begun;
    if (std::exchange(target->load_turns, begun) == begun) continue;
    write_turn(*target, offsetof(inside::LoadTurns, seen), begun);
    waiting_.insert(pid);
    const auto is_its = [its = pid](const LoadedIn& load) { return load.pid == its; };
    if (std::none_of(loads.begin(), loads.end(), is_its)) loads.push_back({pid, pid});
  }
}

void LoadHolds::settle(const AgentTargets& targets) {
  for (const pid_t pid : std::exchange(waiting_, {}))
    if (AgentTarget* target = live_target(targets, pid))
      write_turn(*target, offsetof(inside::LoadTurns, answered), target->load_turns);
}

void LoadHolds::note_late(const AgentTargets& targets) {
  for (const auto& [pid, target] : targets)
    if (target->watches_loads) note_late(*target, turns_of(*target));
}

uint64_t LoadHolds::take_late(const AgentTargets& targets) {
  note_late(targets);
  return std::exchange(late_, 0);
}

}  // namespace dvm::runtime
