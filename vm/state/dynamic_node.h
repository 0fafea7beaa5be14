#pragma once
// The node of a dynamic variable (dynamic_variables.h). Native code reads it.

#include <cstdint>

#include "vm/state/buddy_store.h"

namespace dvm::vm {

struct DynamicNode {
  uint32_t next = 0;
  uint32_t hash = 0;
  // Native code reads these four as one word. In a free node `id` is 0, so the word matches no variable.
  int32_t tid = 0;
  uint16_t id = 0;
  bool thread = false;
  bool has_tuple = false;
  uint32_t tuple_entries = 0;
  BuddyStore::Block tuple;
  BuddyStore::Block bytes;  // of a by-reference value
  uint64_t value = 0;       // of a live node: not 0

  // tid, id, thread and has_tuple.
  uint64_t scope() const noexcept {
    return static_cast<uint32_t>(tid) | uint64_t{id} << 32 | uint64_t{thread} << 48 | uint64_t{has_tuple} << 56;
  }
};

// The node of no variable.
inline constexpr DynamicNode kNoNode{};

}  // namespace dvm::vm
