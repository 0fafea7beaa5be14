#pragma once
// The stack of a firing by frame pointers, as words of a key. A frame pointer may hold anything: the walk ends where it does not
// lead up the stack, or where memory cannot be read. Nothing here can fault.
//
//   the first thread's stack, and others that dvm has found   by plain loads above the stack pointer, which stays mapped
//   all other stacks                                          by process_vm_readv(2), in pieces

#include "runtime/agent/inside/read.h"

namespace dvm::runtime::inside {

inline constexpr unsigned kFrameWord = 4, kCounterWord = 16;  // of the saved registers
inline constexpr uint64_t kPieceWords = 32;
inline constexpr uint64_t kFarthest = 8 << 20;  // distance of a frame from the stack pointer, in other stacks

// Two words, or one; null: they cannot be read. All lie above the stack pointer, at multiples of 8.
using StackWords = const volatile uint64_t*;

// Copies pieces of a stack that may vanish.
class CopiedStack {
 public:
  CopiedStack(const Context& context, uint64_t pointer) : context_(context), pointer_(pointer) {}

  StackWords words_at(uint64_t address, uint64_t bytes) {
    if (address - copied_at_ >= copied_ || copied_ - (address - copied_at_) < bytes) {
      if (address - pointer_ >= kFarthest) return nullptr;
      copied_at_ = address;
      copied_ =
          read_memory(static_cast<int32_t>(armed_page(context_).pid), address, reinterpret_cast<uint64_t>(piece_), sizeof piece_);
      if (copied_ < bytes) return nullptr;
    }
    return piece_ + (address - copied_at_) / sizeof(uint64_t);
  }

 private:
  const Context& context_;
  uint64_t pointer_;
  uint64_t copied_at_ = 0, copied_ = 0;
  uint64_t piece_[kPieceWords];
};

// Writes the process id, the program counters, and 0. Returns the number of words.
template <class WordsAt>
[[gnu::always_inline]] inline uint32_t walk(const Context& context, const SiteKey& key, const uint64_t* saved, uint64_t* to,
                                            WordsAt words_at) {
  const uint64_t stack_pointer = saved[kStackWord];
  const auto is_above = [&](uint64_t address) { return address >= stack_pointer && address % sizeof(uint64_t) == 0; };
  const uint32_t last = key.most;
  uint32_t count = 0;
  to[count++] = armed_page(context).pid;
  to[count++] = saved[kCounterWord];
  if (key.return_at >= 0 && count <= last) {
    const uint64_t address = stack_pointer + static_cast<uint64_t>(key.return_at);
    const StackWords words = is_above(address) ? words_at(address, sizeof(uint64_t)) : nullptr;
    if (words != nullptr && words[0] != 0) to[count++] = words[0];
  }
  uint64_t least = stack_pointer;
  for (uint64_t pointer = saved[kFrameWord]; count <= last && pointer >= least && is_above(pointer);) {
    const StackWords words = words_at(pointer, 2 * sizeof(uint64_t));
    if (words == nullptr) break;
    const uint64_t next = words[0], counter = words[1];
    if (counter != 0) to[count++] = counter;
    least = pointer + 2 * sizeof(uint64_t);
    pointer = next;
  }
  to[count++] = 0;
  return count;
}

DVM_RARELY inline uint32_t walk_copied(const Context& context, const SiteKey& key, const uint64_t* saved, uint64_t* to) {
  if (is_muted(context)) return 0;
  CopiedStack stack(context, saved[kStackWord]);
  return walk(context, key, saved, to, [&](uint64_t address, uint64_t bytes) { return stack.words_at(address, bytes); });
}

// The end of the stack on which the thread runs; 0: not known, and dvm is asked to find it. A lane may still hold the stack of a
// thread that has ended.
[[gnu::always_inline]] inline uint64_t end_of_stack(const Context& context, Lane* lane, uint64_t stack_pointer) {
  const MemoryRange& stack = reinterpret_cast<const LastingMemory*>(context.lasting)->stack;
  if (is_in(stack, stack_pointer)) return stack.end;
  const uint64_t thread = thread_pointer();
  const uint64_t end = load(lane->stack.end);
  if (end == thread && stack_pointer >= load(lane->stack.begin) && stack_pointer < end) return end;
  lane->asked_thread = thread;
  lane->asked_pointer = stack_pointer;
  return 0;
}

// Returns the number of words; 0: the stack cannot be read without system calls, which the process has restricted.
[[gnu::always_inline]] inline uint32_t read_frames(const Context& context, Lane* lane, const SiteKey& key, const uint64_t* saved,
                                                   uint64_t* to) {
  const uint64_t end = end_of_stack(context, lane, saved[kStackWord]);
  if (end == 0) return walk_copied(context, key, saved, to);
  return walk(context, key, saved, to, [end](uint64_t address, uint64_t bytes) {
    return address < end && end - address >= bytes ? reinterpret_cast<StackWords>(address) : nullptr;
  });
}

}  // namespace dvm::runtime::inside
