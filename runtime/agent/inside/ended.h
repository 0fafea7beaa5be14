#pragma once
// Takes a lane from a firing that will never end, because a signal handler has interrupted it and was left by siglongjmp(). Part
// of fire.cpp. In doubt the lane stays taken, and the current firing is lost, as in a handler that returns.
//
// While a lane is taken, Lane::frame is that of the firing that has taken it, or 0. It is never that of an earlier firing:
// - kAlone: it is written before the lane is taken. A handler in between that fires takes the lane, and leaves 0.
// - Otherwise another task may have the lane, so it is written afterwards.
// - It is cleared after the lane is given back.

#include "runtime/agent/inside/format.h"
#include "runtime/agent/inside/frames.h"
#include "runtime/agent/inside/lanes.h"

namespace dvm::runtime::inside {

inline constexpr uint64_t kSavedBytes = kSavedWords * sizeof(uint64_t);

// True if the guard of its saved words is gone. above: the frame is in the known part of this stack, so plain loads are safe.
[[gnu::always_inline]] inline bool is_overwritten(const Context& context, uint64_t frame, bool is_above) {
  const uint64_t at = frame + kGuardWord * sizeof(uint64_t);
  uint64_t word = kGuard;
  if (is_above) return load_word(at) != kGuard;
  if (is_muted(context)) return false;
  const auto pid = static_cast<int32_t>(armed_page(context).pid);
  return read_memory(pid, at, reinterpret_cast<uint64_t>(&word), sizeof word) == sizeof word && word != kGuard;
}

// True if the firing that has the lane cannot go on:
// - its frame is where the current firing has its own, or
// - the words of its frame have been overwritten.
// It is not enough that its frame is further down the same stack: the stack of a coroutine may lie in that of its thread.
DVM_RARELY inline bool has_ended(const Context& context, Lane& lane, uint64_t frame, const uint64_t* saved) {
  const auto begin = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  const uint64_t pointer = saved[kStackWord];
  if (frame % sizeof(uint64_t) != 0) return false;
  if (frame < pointer && frame + kSavedBytes > begin) return true;
  const uint64_t end = end_of_stack(context, &lane, pointer);
  return is_overwritten(context, frame, frame >= pointer && frame < end && end - frame >= kSavedBytes);
}

DVM_RARELY inline bool take_from_ended(const Context& context, Lane& lane, const uint64_t* saved) {
  const uint64_t turns = load(lane.turns), frame = load(lane.frame);
  if (turns % 2 == 0 || frame == 0 || !has_ended(context, lane, frame, saved)) return false;
  if (!take(lane.frame, reinterpret_cast<uint64_t>(saved), frame) || !take(lane.turns, turns + 2, turns)) return false;
  lane.nested++;  // the other one is lost
  return true;
}

}  // namespace dvm::runtime::inside
