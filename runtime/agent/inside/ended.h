#pragma once
// Takes a lane from a firing that will never end: a signal handler has interrupted it, and was left by siglongjmp(). fire.cpp
// includes this. In doubt the lane stays taken, and the firing at hand is lost, like one in a handler that returns.
//
// While a lane is taken, Lane::frame is that of the firing that has it, or 0: never that of an earlier one.
// - kAlone: it is written before the lane is taken. A handler in between that fires takes the lane, and leaves 0.
// - Otherwise another task may have the lane, so it is written afterwards.
// - It is cleared after the lane is given back.

#include "runtime/agent/inside/format.h"
#include "runtime/agent/inside/frames.h"
#include "runtime/agent/inside/lanes.h"

namespace dvm::runtime::inside {

inline constexpr uint64_t kSavedBytes = kSavedWords * sizeof(uint64_t);
inline constexpr uint64_t kMostBelow = 2048;           // bytes of the stack below the saved words that a firing uses
inline constexpr uint64_t kMostSearched = 256 * 1024;  // bytes of a stack

// The guard of its saved words is gone. above: of a stack that is known, so that it may be loaded.
[[gnu::always_inline]] inline bool is_overwritten(const Context& context, uint64_t frame, bool is_above) {
  const uint64_t at = frame + kGuardWord * sizeof(uint64_t);
  uint64_t word = kGuard;
  if (is_above) return load_word(at) != kGuard;
  if (is_muted(context)) return false;
  const auto pid = static_cast<int32_t>(armed_page(context).pid);
  return read_memory(pid, at, reinterpret_cast<uint64_t>(&word), sizeof word) == sizeof word && word != kGuard;
}

// A handler on an alternate stack, which may lie in this one, has a signal frame with the stack pointer of what it interrupts.
[[gnu::always_inline]] inline bool may_lead_back(uint64_t pointer, uint64_t end, uint64_t frame) {
  constexpr uint64_t kWord = sizeof(uint64_t), kSegments = 3 * kWord, kOfPrograms = 0x33;
  if (end - pointer > kMostSearched) return true;
  for (uint64_t at = (pointer + kWord - 1) & ~(kWord - 1); at + kSegments + kWord <= end; at += kWord)
    if (frame - load_word(at) < kMostBelow && (load_word(at + kSegments) & 0xffff) == kOfPrograms) return true;
  return false;
}

// - It lies where the firing at hand has its own frame.
// - It lies below, on the same stack, which no other task uses.
// - Its words have been overwritten.
DVM_RARELY inline bool has_ended(const Context& context, Lane& lane, uint64_t frame, const uint64_t* saved, bool is_alone) {
  const auto begin = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  const uint64_t pointer = saved[kStackWord];
  if (frame % sizeof(uint64_t) != 0) return false;
  if (frame < pointer && frame + kSavedBytes > begin) return true;
  const uint64_t end = end_of_stack(context, &lane, pointer);
  const MemoryRange& first = reinterpret_cast<const LastingMemory*>(context.lasting)->stack;
  const uint64_t lowest = is_in(first, pointer) ? first.begin : load(lane.stack.begin);
  const bool is_on_stack = frame < end && frame >= lowest;
  if (is_on_stack && is_alone && frame < begin && !may_lead_back(pointer, end, frame)) return true;
  return is_overwritten(context, frame, is_on_stack && frame >= pointer && end - frame >= kSavedBytes);
}

DVM_RARELY inline bool take_from_ended(const Context& context, Lane& lane, const uint64_t* saved, bool is_alone) {
  const uint64_t turns = load(lane.turns), frame = load(lane.frame);
  if (turns % 2 == 0 || frame == 0 || !has_ended(context, lane, frame, saved, is_alone)) return false;
  if (!take(lane.frame, reinterpret_cast<uint64_t>(saved), frame) || !take(lane.turns, turns + 2, turns)) return false;
  lane.nested++;  // the other one is lost
  return true;
}

}  // namespace dvm::runtime::inside
