#pragma once
// A buddy allocator in a memory of fixed size. A block has a power of two of granules. It is split if a smaller one is needed,
// and joined with its neighbour ("buddy") if both are free. All bookkeeping lies outside of the memory, so DIF may write anywhere
// in it. Probe context: only the constructor allocates.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "vm/state/lazy_array.h"

namespace dvm::vm {

class BuddyStore {
 public:
  static constexpr size_t kGranule = 32;
  static constexpr size_t kOverhead = 9;  // bytes of bookkeeping for each granule
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr unsigned kOrders = 26;  // of blocks

  struct Block {
    uint32_t granule = kNone;
    uint8_t order = 0;  // 2^order granules
    explicit operator bool() const { return granule != kNone; }
    size_t bytes() const { return kGranule << order; }
  };

  explicit BuddyStore(size_t granules);
  // Returns an empty block if no block that is large enough is free.
  Block allocate(size_t bytes) noexcept;
  void release(Block block) noexcept;
  std::byte* at(Block block) noexcept { return memory_.data() + block.granule * kGranule; }
  std::span<std::byte> memory() noexcept { return {memory_.data(), memory_.size()}; }

 private:
  void put(uint32_t granule, unsigned order) noexcept;
  void take(uint32_t granule, unsigned order) noexcept;

  LazyArray<std::byte> memory_;
  LazyArray<uint32_t> next_, previous_;  // links of the free lists, by the first granule of a free block
  LazyArray<uint8_t> free_;              // order + 1 of the free block that begins at the granule; 0: none does
  std::array<uint32_t, kOrders> heads_;
};

}  // namespace dvm::vm
