#pragma once
// Dominators of the blocks of Code. Branches only go forward, so one pass over the code finds them.

#include <cstdint>

#include "compiler/lower/code.h"

namespace dvm::compiler {

inline constexpr uint32_t kNoBlock = ~uint32_t{0};

// Blocks by their immediate dominators.
class Dominators {
 public:
  explicit Dominators(CodeArena* arena) : blocks_(arena) {}

  uint32_t add(uint32_t dominator) {
    blocks_.push_back({dominator, dominator == kNoBlock ? 0 : blocks_[dominator].depth + 1});
    return static_cast<uint32_t>(blocks_.size() - 1);
  }
  uint32_t common(uint32_t a, uint32_t b) const {
    if (a == kNoBlock) return b;
    while (a != b) {
      uint32_t& deeper = blocks_[a].depth < blocks_[b].depth ? b : a;
      deeper = blocks_[deeper].dominator;
    }
    return a;
  }
  // Gives up after kMaxWalk blocks and returns false, which only costs an optimization.
  bool dominates(uint32_t a, uint32_t b) const {
    for (unsigned n = 0; n < kMaxWalk && blocks_[b].depth > blocks_[a].depth; n++) b = blocks_[b].dominator;
    return a == b;
  }

 private:
  static constexpr unsigned kMaxWalk = 256;  // blocks

  struct Block {
    uint32_t dominator, depth;
  };
  ArenaVector<Block> blocks_;
};

}  // namespace dvm::compiler
