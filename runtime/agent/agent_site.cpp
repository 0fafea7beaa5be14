#include "runtime/agent/agent_site.h"

#include <cstring>

namespace dvm::runtime {
namespace {

// Each thing begins at a multiple of 16.
size_t room_of(size_t bytes) { return (bytes + 15) & ~size_t{15}; }
// With its unwind information.
size_t room_of(const MachineCode& code) { return code.empty() ? 0 : room_of(code.bytes.size()) + sizeof(inside::FrameEntry); }

bool has_slot(std::span<const std::byte> program) {
  inside::RecordStep step;
  for (size_t at = sizeof(inside::RecordProgram); at + sizeof step <= program.size(); at += sizeof step) {
    std::memcpy(&step, program.data() + at, sizeof step);
    if (step.kind == inside::RecordStep::Kind::slot) return true;
  }
  return false;
}

bool reads_string(const AgentStep& step) {
  const auto is_string = [](const inside::SiteKey& key) { return key.kind == inside::KeyKind::string; };
  const std::vector<AgentKey>& keys = step.aggregation.keys;
  return std::any_of(keys.begin(), keys.end(), [&](const AgentKey& one) { return is_string(one.key); }) ||
         (has_text(step) && is_string(step.text.from)) || has_slot(step.record.program);
}

}  // namespace

void MachineCode::place_globals(uint64_t at) {
  for (const uint32_t offset : globals) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + offset, sizeof word);
    word += at;
    std::memcpy(bytes.data() + offset, &word, sizeof word);
  }
}

size_t AgentStep::bytes() const {
  size_t all = room_of(has_text(*this) ? sizeof(inside::TextAssignment) : 0) + sizeof step + sizeof aggregation.clause + 16 +
               room_of(code) + room_of(aggregation.value);
  for (const AgentKey& key : aggregation.keys) all += room_of(key.code);
  if (is_any_record(*this))
    all += room_of(sizeof record.record) + room_of(record.program.size()) + room_of(record.larger_program.size());
  return all;
}

void AgentSite::place_globals(uint64_t at) {
  for (AgentFirer& firer : firers)
    for (AgentStep& step : firer.steps) {
      step.code.place_globals(at);
      step.aggregation.value.place_globals(at);
      for (AgentKey& key : step.aggregation.keys) key.code.place_globals(at);
    }
}

bool reads_memory(const AgentSite& site) {
  return std::any_of(site.firers.begin(), site.firers.end(), [](const AgentFirer& firer) {
    return has_slot(firer.program) || std::any_of(firer.steps.begin(), firer.steps.end(), reads_string);
  });
}

bool record_makes_calls(std::span<const std::byte> program) {
  inside::RecordProgram head;
  if (program.size() < sizeof head) return false;
  std::memcpy(&head, program.data(), sizeof head);
  return head.makes_calls != 0;
}

uint64_t AgentSite::counted_firers() const {
  return static_cast<uint64_t>(
      std::count_if(firers.begin(), firers.end(), [](const AgentFirer& one) { return one.tail != inside::Tail::returns; }));
}

void AgentSite::add_semaphore(uint64_t address) {
  const bool is_known = std::find(semaphores.begin(), semaphores.end(), address) != semaphores.end();
  if (address != 0 && !is_known) semaphores.push_back(address);
}

}  // namespace dvm::runtime
