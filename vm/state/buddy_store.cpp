// A buddy allocator with its links outside. Covered by tests/unit/vm/dynamic_variables_test.cpp.

#include "vm/state/buddy_store.h"

#include <algorithm>

namespace dvm::vm {

BuddyStore::BuddyStore(size_t granules) : memory_(granules * kGranule), next_(granules), previous_(granules), free_(granules) {
  heads_.fill(kNone);
  uint32_t at = 0;
  for (unsigned order = kOrders; order-- > 0;)
    for (; granules - at >= size_t{1} << order; at += 1u << order) put(at, order);
}

void BuddyStore::put(uint32_t granule, unsigned order) noexcept {
  free_[granule] = static_cast<uint8_t>(order + 1);
  previous_[granule] = kNone;
  next_[granule] = heads_[order];
  if (heads_[order] != kNone) previous_[heads_[order]] = granule;
  heads_[order] = granule;
}

void BuddyStore::take(uint32_t granule, unsigned order) noexcept {
  free_[granule] = 0;
  if (previous_[granule] == kNone)
    heads_[order] = next_[granule];
  else
    next_[previous_[granule]] = next_[granule];
  if (next_[granule] != kNone) previous_[next_[granule]] = previous_[granule];
}

BuddyStore::Block BuddyStore::allocate(size_t bytes) noexcept {
  unsigned order = 0;
  while (order < kOrders && kGranule << order < bytes) order++;
  unsigned from = order;
  while (from < kOrders && heads_[from] == kNone) from++;
  if (from >= kOrders) return {};
  const uint32_t granule = heads_[from];
  take(granule, from);
  while (from > order) {
    from--;
    put(granule + (1u << from), from);
  }
  return {granule, static_cast<uint8_t>(order)};
}

void BuddyStore::release(Block block) noexcept {
  uint32_t granule = block.granule;
  unsigned order = block.order;
  for (; order + 1 < kOrders; order++) {
    const uint32_t buddy = granule ^ (1u << order);
    if (buddy >= free_.size() || free_[buddy] != order + 1) break;
    take(buddy, order);
    granule = std::min(granule, buddy);
  }
  put(granule, order);
}

}  // namespace dvm::vm
