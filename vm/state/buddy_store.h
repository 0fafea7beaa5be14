#pragma once
// Blocks of a fixed memory, in powers of two granules, split when a smaller one is asked for and joined with their neighbour
// ("buddy") when both are free. All bookkeeping lies beside the memory, so that DIF may write anywhere in it.
// Probe context: only the constructor allocates.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "vm/state/lazy_array.h"

namespace dvm::vm {

class BuddyStore {
 public:
  static constexpr size_t kGranule = 32;
  static constexpr size_t kOverhead = 9;  // bytes of bookkeeping a granule
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr unsigned kOrders = 26;  // of blocks

  struct Block {
    uint32_t granule = kNone;
    uint8_t order = 0;  // 2^order granules
    explicit operator bool() const { return granule != kNone; }
    size_t bytes() const { return kGranule << order; }
  };

  explicit BuddyStore(size_t granules);
  // No block when nothing large enough is free.
  Block allocate(size_t bytes) noexcept;
  void release(Block block) noexcept;
  std::byte* at(Block block) noexcept { return memory_.data() + block.granule * kGranule; }
  std::span<std::byte> memory() noexcept { return {memory_.data(), memory_.size()}; }

 private:
  void put(uint32_t granule, unsigned order) noexcept;
  void take(uint32_t granule, unsigned order) noexcept;

  LazyArray<std::byte> memory_;
  LazyArray<uint32_t> next_, previous_;  // links of the free lists, where a free block begins
  LazyArray<uint8_t> free_;              // of the free block that begins here: its order + 1; 0: none does
  std::array<uint32_t, kOrders> heads_;
};

}  // namespace dvm::vm
