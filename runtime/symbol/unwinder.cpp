// From frame to frame. Tested by tests/unit/instrument/unwinder_test.cpp.

#include "runtime/symbol/unwinder.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "common/clock.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kReadAgain = 100'000'000;  // ns after which a map may have changed
constexpr size_t kMostEnds = 1024;            // of frames, that are kept for a process

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

// True if the return address lies beyond the captured part.
bool runs_out(const CapturedStack& stack, const FrameRule& rule) {
  const FrameRule::SavedRegister& place = rule.places[kReturnAddress];
  uint64_t cfa = 0;
  if (stack.bytes.empty() || place.kept != FrameRule::Kept::at_cfa || !find_cfa(stack, rule, cfa)) return false;
  const uint64_t at = cfa + static_cast<uint64_t>(int64_t{place.offset});
  return at >= stack.address + stack.bytes.size() && at >= stack.registers[kStackPointer];
}

// How many links of the chain that begins at `pointer` lie in the captured bytes; pointer becomes where the next one does.
size_t captured_links(const CapturedStack& stack, uint64_t& pointer) {
  size_t count = 0;
  uint64_t next = 0, address = 0;
  for (; load(stack, pointer, next) && load(stack, pointer + 8, address); count++) {
    if (next <= pointer) return pointer = 0, count + 1;
    pointer = next;
  }
  return count;
}

// The part of the chain that begins with the frame pointer of where a walk has ended; empty: the chain does not lead there.
std::span<const std::byte> rest_of_chain(const CapturedStack& first, const CapturedStack& last) {
  uint64_t pointer = first.registers[kFramePointer];
  if (!knows(first, kFramePointer) || !knows(last, kFramePointer)) return {};
  const size_t links = captured_links(first, pointer);
  if (pointer == 0 || pointer != last.registers[kFramePointer] || links * 8 > first.chain.size()) return {};
  return first.chain.subspan(links * 8);
}

// True if %rbp leads to the return address and the caller's frame pointer.
bool is_by_frame_pointer(const FrameRule& rule) {
  const FrameRule::SavedRegister& pointer = rule.places[kFramePointer];
  return rule.cfa_base == kFramePointer && !rule.cfa_is_loaded && rule.cfa_offset == 16 &&
         pointer.kept == FrameRule::Kept::at_cfa && pointer.offset == -16;
}

// A register of the caller. Compilers do not always say that an epilogue has popped one: its place then lies below the stack
// pointer, where nothing need have been captured, and the register has its value again.
std::optional<uint64_t> restore(const CapturedStack& stack, const FrameRule& rule, unsigned number, uint64_t cfa) {
  const FrameRule::SavedRegister& place = rule.places[number];
  const bool by_register = place.kept == FrameRule::Kept::at_register;
  if (place.kept == FrameRule::Kept::undefined || (by_register && !knows(stack, place.base))) return std::nullopt;
  if (place.kept == FrameRule::Kept::same) return knows(stack, number) ? std::optional(stack.registers[number]) : std::nullopt;
  uint64_t value = 0;
  const uint64_t at = (by_register ? stack.registers[place.base] : cfa) + static_cast<uint64_t>(int64_t{place.offset});
  if (load(stack, at, value)) return value;
  const bool is_popped = knows(stack, kStackPointer) && at < stack.registers[kStackPointer];
  return is_popped && knows(stack, number) ? std::optional(stack.registers[number]) : std::nullopt;
}

bool step_by_rule(CapturedStack& stack, const FrameRule& rule) {
  uint64_t cfa = 0;
  if (!find_cfa(stack, rule, cfa)) return false;
  CapturedStack caller;
  caller.address = stack.address, caller.bytes = stack.bytes;
  caller.chain = stack.chain;
  for (unsigned number = 0; number < kFrameRegisters; number++)
    if (const auto value = restore(stack, rule, number, cfa)) caller.set(number, *value);
  if (!rule.is_signal) caller.set(kStackPointer, cfa);
  if (rule.is_signal && !knows(caller, kStackPointer)) return false;
  const bool goes_up = rule.is_signal || cfa > stack.registers[kStackPointer];
  if (!goes_up || !knows(caller, kReturnAddress)) return false;
  stack = caller;
  return true;
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

// At the entry of a function. One that has set its frame pointer already is known by that.
bool step_by_return_address(CapturedStack& stack) {
  uint64_t address = 0;
  if (stack.return_at == 0 || stack.registers[kFramePointer] + 8 == stack.return_at) return step_by_frame_pointer(stack);
  if (!load(stack, stack.return_at, address)) return false;
  stack.set(kStackPointer, stack.return_at + 8);
  stack.set(kReturnAddress, address);
  return true;
}

bool step_by_frame_end(CapturedStack& stack, const FrameEnd& end) {
  const uint64_t top = stack.registers[kStackPointer];
  uint64_t address = 0, value = 0;
  if (!knows(stack, kStackPointer) || !load(stack, top + end.size, address)) return false;
  for (unsigned number = 0; number < kFrameRegisters; number++)
    if ((end.pops >> number & 1) != 0 && load(stack, top + static_cast<uint64_t>(end.popped[number]), value))
      stack.set(number, value);
  stack.set(kStackPointer, top + end.size + sizeof(uint64_t));
  stack.set(kReturnAddress, address);
  return true;
}

// Code of the process, which may have changed since it ran.
std::optional<FrameEnd> read_frame_end(int32_t pid, uint64_t address) {
  constexpr uint64_t kPage = 4096;
  std::array<uint8_t, FrameEnd::kMostBytes> code{};
  const size_t size = std::min<uint64_t>(code.size(), kPage - address % kPage);
  const iovec local{code.data(), size}, remote{reinterpret_cast<void*>(address), size};
  const ssize_t count = process_vm_readv(pid, &local, 1, &remote, 1, 0);
  return count > 0 ? decode_frame_end(std::span(code).first(static_cast<size_t>(count))) : std::nullopt;
}

// While the process exists.
std::optional<FileKey> identity_of(const MappedObject& object) {
  for (const std::string& path : {object.open_path, object.path})
    if (auto key = FileKey::of(path)) return *key;
  return std::nullopt;
}

}  // namespace

void Unwinder::learn(int32_t pid) { process(pid); }

void Unwinder::inherit(int32_t child, int32_t parent) {
  const auto known = processes_.find(parent);
  if (known == processes_.end()) return;
  const KnownProcess copy = known->second;
  known_process(child) = copy;
}

Unwinder::KnownProcess& Unwinder::known_process(int32_t pid) {
  const auto [one, is_new] = processes_.try_emplace(pid);
  one->second.used = ++uses_;
  if (is_new && processes_.size() > kMostProcesses)
    processes_.erase(std::ranges::min_element(processes_, {}, [](const auto& entry) { return entry.second.used; }));
  return one->second;
}

Unwinder::KnownProcess& Unwinder::process(int32_t pid) {
  KnownProcess& known = known_process(pid);
  const uint64_t time = read_clock(CLOCK_MONOTONIC);
  if (known.read_at != 0 && time - known.read_at < kReadAgain) return known;
  known.read_at = time;
  known.ends.clear();
  if (auto code = mapped_code(pid); code && !code->objects.empty()) {
    known.objects = std::move(code->objects);
    known.code = std::move(code->ranges);
    known.frames.clear();
    for (const MappedObject& object : known.objects) known.frames.push_back({identity_of(object)});
  }
  return known;
}

// Opens the file as the process did or, if that is gone, by its name here, unless another file has that name now.
CallFrames* Unwinder::frames_of(KnownProcess& process, const MappedObject& object) {
  MappedFrames& mapped = process.frames[static_cast<size_t>(&object - process.objects.data())];
  if (!std::exchange(mapped.is_sought, true) && mapped.key)
    mapped.found = files_.open(*mapped.key, {object.open_path, object.path});
  return mapped.found.get();
}

const FrameRule* Unwinder::find(KnownProcess& process, uint64_t address) {
  const MappedObject* object = object_at(process.objects, address);
  CallFrames* frames = object ? frames_of(process, *object) : nullptr;
  const auto in_file = frames ? frames->address_of(address - object->address + object->offset) : std::nullopt;
  return in_file ? &frames->at(*in_file) : nullptr;
}

// True if makecontext() has put this address on the stack, above which nothing lies: code with information begins there, and no
// call ends there.
bool Unwinder::begins_context(KnownProcess& process, uint64_t address) {
  const FrameRule* rule = find(process, address);
  if (rule == nullptr || !rule->is_known) return false;
  const MappedObject* object = object_at(process.objects, address);
  return !frames_of(process, *object)->follows_call(address - object->address + object->offset);
}

const FrameRule* Unwinder::rule_at(int32_t pid, KnownProcess& known, uint64_t address) {
  const FrameRule* rule = find(known, address);
  return rule ? rule : find(process(pid), address);
}

const std::optional<FrameEnd>& Unwinder::frame_end_at(int32_t pid, KnownProcess& known, uint64_t address) {
  if (known.ends.size() >= kMostEnds) known.ends.clear();
  const auto [entry, is_new] = known.ends.try_emplace(address);
  if (is_new) entry->second = read_frame_end(pid, address);
  return entry->second;
}

// By no information on the frame.
bool Unwinder::step_without_rule(int32_t pid, KnownProcess& known, CapturedStack& stack) {
  if (stack.return_at == 0)
    if (const auto& end = frame_end_at(pid, known, stack.registers[kReturnAddress]); end && step_by_frame_end(stack, *end))
      return true;
  const bool has_stepped = step_by_return_address(stack);
  stack.return_at = 0;
  return has_stepped;
}

bool Unwinder::is_code(int32_t pid, KnownProcess& known, uint64_t address) {
  return has_address(known.code, address) || has_address(process(pid).code, address);
}

bool Unwinder::keeps_frame_pointers(int32_t pid) {
  KnownProcess& known = process(pid);
  return std::all_of(known.objects.begin(), known.objects.end(), [&](const MappedObject& object) {
    CallFrames* frames = frames_of(known, object);
    return frames == nullptr || frames->keeps_frame_pointers();
  });
}

// From the last of so many frames.
size_t Unwinder::follow_chain(int32_t pid, KnownProcess& known, std::span<const std::byte> chain, std::span<uint64_t> frames,
                              size_t count) {
  for (; !chain.empty() && count < frames.size(); chain = chain.subspan(sizeof(uint64_t)), count++) {
    const FrameRule* rule = rule_at(pid, known, frames[count - 1] - (count > 1));
    if (rule != nullptr && rule->is_known && !is_by_frame_pointer(*rule)) break;
    std::memcpy(&frames[count], chain.data(), sizeof(uint64_t));
    if (!is_code(pid, known, frames[count])) break;
  }
  return count;
}

// A caller is looked up by the byte before the address that it is returned to: a call may be the last that its function does.
size_t Unwinder::walk(int32_t pid, CapturedStack stack, std::span<uint64_t> frames) noexcept {
  size_t count = 0;
  KnownProcess& known = known_process(pid);
  const CapturedStack first = stack;
  bool is_cut = false;
  for (bool is_exact = true; count < frames.size();) {
    const uint64_t address = stack.registers[kReturnAddress];
    if (address == 0 || (count > 0 && !is_code(pid, known, address))) return count;
    frames[count++] = address;
    const FrameRule* rule = rule_at(pid, known, is_exact ? address : address - 1);
    const bool is_known = rule != nullptr && rule->is_known;
    if (!is_known && !is_exact && begins_context(known, address)) return count;
    is_exact = is_known && rule->is_signal;
    is_cut = is_known && runs_out(stack, *rule);
    if (is_known ? !step_by_rule(stack, *rule) : !step_without_rule(pid, known, stack)) break;
  }
  if (count == 0 || count == frames.size()) return count;
  const size_t all = follow_chain(pid, known, rest_of_chain(first, stack), frames, count);
  cut_ += is_cut && all == count;
  return all;
}

size_t Unwinder::count_executable(int32_t pid, std::span<const uint64_t> frames, size_t certain) noexcept {
  KnownProcess& known = known_process(pid);
  size_t count = std::min(certain, frames.size());
  while (count < frames.size() && is_code(pid, known, frames[count])) count++;
  return count;
}

}  // namespace dvm::runtime
