#pragma once
// The stack of a firing by frame pointers, as words of a key. A frame pointer may be anything: a chain ends where it does not
// lead up the stack, or where that cannot be read. Nothing here can fault.
//
//   the stack of the first thread   plain loads above its stack pointer, where it lasts
//   other stacks                    pieces copied by process_vm_readv(2)

#include "runtime/agent/inside/read.h"

namespace dvm::runtime::inside {

inline constexpr unsigned kFrameWord = 4, kCounterWord = 16;  // of the saved registers
inline constexpr uint64_t kPieceWords = 32;
inline constexpr uint64_t kFarthest = 8 << 20;  // frames of other stacks from the stack pointer

class StackReader {
 public:
  [[gnu::always_inline]] StackReader(const Context& context, uint64_t pointer) : context_(context), pointer_(pointer) {
    const auto& lasting = *reinterpret_cast<const LastingMemory*>(context.lasting);
    if (is_in(lasting.stack, pointer)) end_ = lasting.stack.end;
  }

  // So many bytes above the stack pointer; null: they cannot be read.
  [[gnu::always_inline]] const volatile uint64_t* words_at(uint64_t address, uint64_t bytes) {
    if (address < pointer_ || address % sizeof(uint64_t) != 0) return nullptr;
    if (end_ == 0) return copied(address, bytes);
    return address < end_ && end_ - address >= bytes ? reinterpret_cast<const volatile uint64_t*>(address) : nullptr;
  }
  // The process has restricted its system calls, so that some words could not be read.
  bool is_muted() const { return is_muted_; }

 private:
  [[gnu::noinline]] const volatile uint64_t* copied(uint64_t address, uint64_t wanted) {
    if (address - copied_at_ >= copied_ || copied_ - (address - copied_at_) < wanted) {
      if (address - pointer_ >= kFarthest) return nullptr;
      is_muted_ = inside::is_muted(context_);
      copied_at_ = address;
      copied_ = is_muted_ ? 0
                          : read_memory(static_cast<int32_t>(armed_page(context_).pid), address,
                                        reinterpret_cast<uint64_t>(piece_), sizeof piece_);
      if (copied_ < wanted) return nullptr;
    }
    return piece_ + (address - copied_at_) / sizeof(uint64_t);
  }

  const Context& context_;
  uint64_t pointer_, end_ = 0;
  uint64_t copied_at_ = 0, copied_ = 0;
  bool is_muted_ = false;
  uint64_t piece_[kPieceWords];
};

// The process, so many program counters at most, and 0. Returns how many words; 0: they cannot be read.
[[gnu::noinline]] inline uint32_t read_frames(const Context& context, const SiteKey& key, const uint64_t* saved, uint64_t* to) {
  StackReader stack(context, saved[kStackWord]);
  uint32_t count = 0;
  to[count++] = armed_page(context).pid;
  to[count++] = saved[kCounterWord];
  if (key.return_at >= 0 && count <= key.most) {
    const auto* words = stack.words_at(saved[kStackWord] + static_cast<uint64_t>(key.return_at), sizeof(uint64_t));
    if (words != nullptr && words[0] != 0) to[count++] = words[0];
  }
  uint64_t least = saved[kStackWord];
  for (uint64_t pointer = saved[kFrameWord]; count <= key.most && pointer >= least;) {
    const auto* words = stack.words_at(pointer, 2 * sizeof(uint64_t));
    if (words == nullptr) break;
    if (words[1] != 0) to[count++] = words[1];
    least = pointer + 2 * sizeof(uint64_t);
    pointer = words[0];
  }
  to[count++] = 0;
  return stack.is_muted() ? 0 : count;
}

}  // namespace dvm::runtime::inside
