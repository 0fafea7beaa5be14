// Tested by tests/unit/instrument/signal_frames_test.cpp and tests/runtime/scenarios/test_agent_memory.py.

#include "runtime/agent/signal_frames.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/agent/address_space.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kMostStack = uint64_t{16} << 20;  // bytes of one that are looked at
constexpr size_t kMostStacks = 16;                   // of one thread, with those that handlers have left
constexpr uint64_t kReadAtOnce = 64 * 1024;

// Part of a signal frame, as the kernel writes it.
struct SavedRegisters {
  uint64_t stack_pointer, counter, flags, segments;

  bool makes_sense() const {
    constexpr uint64_t kOfPrograms = 0x33, kAlwaysSet = 2, kAllFlags = (1 << 22) - 1;
    return (segments & 0xffff'ffff'ffff) == kOfPrograms && (flags & kAlwaysSet) != 0 && flags <= kAllFlags;
  }
};

class FrameSearch {
 public:
  FrameSearch(const AgentMemory& memory, const std::vector<MemoryMapping>& mappings, std::span<const AddressRange> code)
      : memory_(memory), mappings_(mappings), code_(code) {}

  bool finds(const HeldThread& thread) {
    if (is_code(thread.registers.rip)) return true;
    std::vector<AddressRange> seen;
    left_ = {thread.registers.rsp};
    while (!left_.empty()) {
      const uint64_t pointer = left_.back();
      left_.pop_back();
      const bool is_seen =
          std::any_of(seen.begin(), seen.end(), [&](auto& one) { return one.begin <= pointer && pointer < one.end; });
      if (is_seen) continue;
      if (seen.size() == kMostStacks) return true;
      seen.push_back(stack_at(pointer, thread.registers.fs_base));
      if (looks_in(seen.back())) return true;
    }
    return false;
  }

 private:
  bool is_code(uint64_t address) const {
    return std::any_of(code_.begin(), code_.end(), [&](auto& one) { return one.begin <= address && address < one.end; });
  }

  // The control block of a thread, which its thread pointer leads to, lies above its stack.
  AddressRange stack_at(uint64_t pointer, uint64_t thread_pointer) const {
    const auto its = std::find_if(mappings_.begin(), mappings_.end(), [&](const MemoryMapping& one) {
      return one.range.begin <= pointer && pointer < one.range.end;
    });
    if (its == mappings_.end()) return {pointer, pointer};
    const bool is_below = pointer < thread_pointer && thread_pointer < its->range.end;
    return {pointer, is_below ? thread_pointer : its->range.end};
  }

  // The first frames are the nearest.
  bool looks_in(const AddressRange& stack) {
    constexpr uint64_t kWord = sizeof(uint64_t);
    const uint64_t end = std::min(stack.end, stack.begin + kMostStack);
    for (uint64_t at = stack.begin & ~(kWord - 1); at < end;) {
      const uint64_t next = std::min(end, at + kReadAtOnce);
      words_.resize((std::min(end, next + sizeof(SavedRegisters)) - at) / kWord);
      if (!memory_.read(at, std::as_writable_bytes(std::span(words_)))) return true;
      if (has_frame()) return true;
      at = next;
    }
    return false;
  }

  bool has_frame() {
    constexpr size_t kWords = sizeof(SavedRegisters) / sizeof(uint64_t);
    for (size_t i = 0; i + kWords <= words_.size(); i++) {
      const SavedRegisters saved{words_[i], words_[i + 1], words_[i + 2], words_[i + 3]};
      if (!saved.makes_sense()) continue;
      if (is_code(saved.counter)) return true;
      left_.push_back(saved.stack_pointer);
    }
    return false;
  }

  const AgentMemory& memory_;
  const std::vector<MemoryMapping>& mappings_;
  std::span<const AddressRange> code_;
  std::vector<uint64_t> left_;   // stack pointers whose stacks are yet to be looked at
  std::vector<uint64_t> words_;  // of a stack
};

}  // namespace

bool may_execute(const StoppedProcess& process, const AgentMemory& memory, std::span<const AddressRange> code, size_t but) {
  const auto mappings = mappings_of(process.pid());
  if (!mappings) return true;
  FrameSearch search(memory, *mappings, code);
  size_t found = 0;
  return std::any_of(process.threads().begin(), process.threads().end(),
                     [&](const HeldThread& thread) { return search.finds(thread) && ++found > but; });
}

}  // namespace dvm::runtime
