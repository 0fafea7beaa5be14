// Covered by tests/unit/vm/dynamic_variables_test.cpp.

#include "dvm/vm/dynamic_room.h"

#include "vm/state/dynamic_variables.h"

namespace dvm::vm {

static_assert(BuddyStore::kOrders <= 32);

size_t stored_key(size_t bytes) { return 8 + ((bytes + 7) & ~size_t{7}); }

DynamicRoom::DynamicRoom(size_t dynvarsize) : nodes_(DynamicVariables::nodes_in(dynvarsize)) {
  size_t granules = DynamicVariables::granules_in(dynvarsize);
  for (size_t order = BuddyStore::kOrders; order-- > 0;) {
    free_[order] = granules >> order;
    granules -= free_[order] << order;
  }
}

bool DynamicRoom::add(const DynamicEntry& entry, size_t count) {
  if (count > nodes_) return false;
  nodes_ -= count;
  return (entry.keys == 0 || take(entry.keys, count)) && (entry.value == 0 || take(entry.value, count));
}

// Takes the smallest free blocks that are large enough. Larger ones are split in two; since no block is given back, it does not
// matter which one is split.
bool DynamicRoom::take(size_t bytes, size_t count) {
  size_t order = 0;
  while (order < BuddyStore::kOrders && BuddyStore::kGranule << order < bytes) order++;
  for (; order < BuddyStore::kOrders; order++) {
    if (count <= free_[order]) return free_[order] -= count, true;
    count -= free_[order];
    free_[order] = count % 2;  // the other half of one
    count = (count + 1) / 2;
  }
  return false;
}

}  // namespace dvm::vm
