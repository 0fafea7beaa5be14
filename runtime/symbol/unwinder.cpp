// From frame to frame. Tested by tests/unit/instrument/unwinder_test.cpp.

#include "runtime/symbol/unwinder.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "common/clock.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kReadAgain = 100'000'000;  // ns after which a map may have changed

bool load(const CapturedStack& stack, uint64_t address, uint64_t& word) {
  const uint64_t at = address - stack.address;
  if (at >= stack.bytes.size() || stack.bytes.size() - at < sizeof(word)) return false;
  std::memcpy(&word, stack.bytes.data() + at, sizeof(word));
  return true;
}

bool knows(const CapturedStack& stack, unsigned number) { return stack.known >> number & 1; }

bool find_cfa(const CapturedStack& stack, const FrameRule& rule, uint64_t& cfa) {
  if (!knows(stack, rule.cfa_base)) return false;
  cfa = stack.registers[rule.cfa_base] + static_cast<uint64_t>(int64_t{rule.cfa_offset});
  return !rule.cfa_is_loaded || load(stack, cfa, cfa);
}

// A register of the caller.
std::optional<uint64_t> restore(const CapturedStack& stack, const FrameRule& rule, unsigned number, uint64_t cfa) {
  const FrameRule::Place& place = rule.places[number];
  const bool by_register = place.kept == FrameRule::Kept::at_register;
  if (place.kept == FrameRule::Kept::undefined || (by_register && !knows(stack, place.base))) return std::nullopt;
  if (place.kept == FrameRule::Kept::same) return knows(stack, number) ? std::optional(stack.registers[number]) : std::nullopt;
  uint64_t value = 0;
  const uint64_t from = by_register ? stack.registers[place.base] : cfa;
  return load(stack, from + static_cast<uint64_t>(int64_t{place.offset}), value) ? std::optional(value) : std::nullopt;
}

bool step_by_rule(CapturedStack& stack, const FrameRule& rule) {
  uint64_t cfa = 0;
  if (!find_cfa(stack, rule, cfa)) return false;
  CapturedStack caller;
  caller.address = stack.address, caller.bytes = stack.bytes;
  for (unsigned number = 0; number < kFrameRegisters; number++)
    if (const auto value = restore(stack, rule, number, cfa)) caller.set(number, *value);
  if (!rule.is_signal) caller.set(kStackPointer, cfa);
  if (rule.is_signal && !knows(caller, kStackPointer)) return false;
  const bool goes_up = rule.is_signal || cfa > stack.registers[kStackPointer];
  stack = caller;
  return goes_up && knows(stack, kReturnAddress);
}

bool step_by_frame_pointer(CapturedStack& stack) {
  const uint64_t frame = stack.registers[kFramePointer];
  uint64_t pointer = 0, address = 0;
  if (!knows(stack, kFramePointer) || frame < stack.registers[kStackPointer] || frame % 8 != 0) return false;
  if (!load(stack, frame, pointer) || !load(stack, frame + 8, address)) return false;
  stack.known = 0;
  stack.set(kFramePointer, pointer);
  stack.set(kStackPointer, frame + 16);
  stack.set(kReturnAddress, address);
  return true;
}

}  // namespace

void Unwinder::learn(int32_t pid) { process(pid); }

void Unwinder::inherit(int32_t child, int32_t parent) {
  if (const auto known = processes_.find(parent); known != processes_.end()) processes_.insert_or_assign(child, known->second);
}

Unwinder::Process& Unwinder::process(int32_t pid) {
  Process& known = processes_[pid];
  const uint64_t time = read_clock(CLOCK_MONOTONIC);
  if (known.read_at != 0 && time - known.read_at < kReadAgain) return known;
  known.read_at = time;
  if (auto objects = mapped_objects(pid); objects && !objects->empty()) {
    known.objects = std::move(*objects);
    known.frames.assign(known.objects.size(), std::nullopt);
  }
  return known;
}

// As the process opened it; once that is gone, by its name here.
CallFrames* Unwinder::file(const MappedObject& object) {
  auto [entry, is_new] = files_.try_emplace(object.path);
  if (is_new) entry->second = CallFrames::open(object.open_path);
  if (is_new && !entry->second) entry->second = CallFrames::open(object.path);
  return entry->second.get();
}

CallFrames* Unwinder::frames_of(Process& process, const MappedObject& object) {
  std::optional<CallFrames*>& known = process.frames[static_cast<size_t>(&object - process.objects.data())];
  if (!known) known = file(object);
  return *known;
}

const FrameRule* Unwinder::find(Process& process, uint64_t address) {
  const MappedObject* object = object_at(process.objects, address);
  CallFrames* frames = object ? frames_of(process, *object) : nullptr;
  const auto in_file = frames ? frames->address_of(address - object->address + object->offset) : std::nullopt;
  return in_file ? &frames->at(*in_file) : nullptr;
}

const FrameRule* Unwinder::rule_at(int32_t pid, Process& known, uint64_t address) {
  const FrameRule* rule = find(known, address);
  return rule ? rule : find(process(pid), address);
}

bool Unwinder::keeps_frame_pointers(int32_t pid, const std::string& path) {
  Process& known = process(pid);
  for (const MappedObject& object : known.objects) {
    if (!object.is_program && object.path != path && object.open_path != path) continue;
    CallFrames* frames = frames_of(known, object);
    if (frames && !frames->keeps_frame_pointers()) return false;
  }
  return true;
}

// A caller is looked up by the byte before the address that it is returned to: a call may be the last that its function does.
size_t Unwinder::walk(int32_t pid, CapturedStack stack, std::span<uint64_t> frames) noexcept {
  size_t count = 0;
  Process& known = processes_[pid];
  for (bool is_exact = true; count < frames.size();) {
    const uint64_t address = stack.registers[kReturnAddress];
    if (address == 0) break;
    frames[count++] = address;
    const FrameRule* rule = rule_at(pid, known, is_exact ? address : address - 1);
    const bool is_known = rule != nullptr && rule->is_known;
    is_exact = is_known && rule->is_signal;
    if (is_known ? !step_by_rule(stack, *rule) : !step_by_frame_pointer(stack)) break;
  }
  return count;
}

}  // namespace dvm::runtime
