#pragma once
// The node of a dynamic variable (dynamic_variables.h). Native code reads it here.

#include <cstdint>

#include "vm/state/buddy_store.h"

namespace dvm::vm {

struct DynamicNode {
  uint32_t next = 0;
  uint32_t hash = 0;
  // These four are one word for native code: of a free node, none that is looked for, since `id` is 0.
  int32_t tid = 0;
  uint16_t id = 0;
  bool thread = false;
  bool has_tuple = false;
  uint32_t tuple_entries = 0;
  BuddyStore::Block tuple;
  BuddyStore::Block bytes;  // of a by-reference value
  uint64_t value = 0;       // of a live node: not 0
};

// No variable's.
inline constexpr DynamicNode kNoNode{};

}  // namespace dvm::vm
