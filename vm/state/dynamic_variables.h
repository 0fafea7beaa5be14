#pragma once
// Dynamic variables: thread-local variables and the elements of associative arrays, in a store of fixed size.
//
//   key    (variable id, global or thread-local, tid when thread-local, the tuple of keys)
//   nodes  One for each variable. It has the link of its hash chain, the fixed part of its key, and its value or the block of it.
//   data   A BuddyStore: tuples, and values of by-reference type.
//
//   a stored tuple, entry after entry:  | size: 8 bytes | bytes of the entry, or its 8-byte value | zeros up to 8 |
//
// Assigning zero frees the variable, as in DTrace. A variable that does not exist reads as zero. A variable for which there is no
// room is not stored, and counted as a drop. DIF may write to data but cannot access a node, so it can at worst damage its own
// keys. Probe context: only the constructor allocates.

#include <cstddef>
#include <cstdint>
#include <span>

#include "dvm/vm/state.h"
#include "vm/state/buddy_store.h"
#include "vm/state/dynamic_node.h"
#include "vm/state/tuple.h"

namespace dvm::vm {

struct DynamicKey {
  uint16_t id = 0;
  bool thread = false;
  int32_t tid = 0;  // 0 for globals
  std::span<const TupleEntry> tuple;

  // The fixed part of the key, as its node has it (DynamicNode::scope()).
  uint64_t scope() const noexcept {
    return static_cast<uint32_t>(tid) | uint64_t{id} << 32 | uint64_t{thread} << 48 | uint64_t{!tuple.empty()} << 56;
  }
};

class DynamicVariables {
 public:
  explicit DynamicVariables(size_t bytes) : DynamicVariables(bytes, nodes_in(bytes)) {}

  // Null: there is no such variable. The value is an integer or an address. Nodes do not move, but may be reused for another
  // variable.
  const DynamicNode* find(const DynamicKey& key) noexcept { return find(key.scope(), key.tuple); }
  uint64_t load(const DynamicKey& key) noexcept {
    const DynamicNode* node = find(key);
    return node ? node->value : 0;
  }
  // Stores an integer; 0 frees the variable. Returns true if the variable was created or freed.
  bool store(const DynamicKey& key, uint64_t value) noexcept { return store(key.scope(), key.tuple, value); }
  // Stores bytes (with_nul adds one zero byte).
  void store_bytes(const DynamicKey& key, std::span<const std::byte> bytes, bool with_nul) noexcept;

  // Frees all variables that are local to the thread.
  void forget_thread(int32_t tid) noexcept;

  uint64_t drops() const { return drops_; }
  size_t live() const { return live_; }  // number of variables
  std::span<std::byte> memory() noexcept { return data_.memory(); }

  // The number of nodes and of granules in a store of so many bytes.
  static size_t nodes_in(size_t bytes);
  static size_t granules_in(size_t bytes);

 private:
  static constexpr uint32_t kNone = 0;

  using Node = DynamicNode;
  using Keys = std::span<const TupleEntry>;

  // The parts of a key are handed on in registers: a key in memory is read just after it was written, narrowly, at up to 10 ns.
  DynamicVariables(size_t bytes, size_t nodes);
  const Node* find(uint64_t scope, Keys keys) noexcept;
  bool store(uint64_t scope, Keys keys, uint64_t value) noexcept;
  uint32_t* link_to(uint64_t scope, Keys keys, uint32_t hash) noexcept;
  bool matches(const Node& node, uint64_t scope, Keys keys, uint32_t hash) noexcept;
  Node* find_or_insert(uint64_t scope, Keys keys) noexcept;
  bool store_tuple(Node& node, Keys keys) noexcept;
  bool erase(uint64_t scope, Keys keys) noexcept;
  void erase_at(uint32_t* link) noexcept;

  LazyArray<Node> nodes_;  // by their numbers, which count from 1
  LazyArray<uint32_t> buckets_;
  uint32_t free_ = kNone;
  uint32_t live_ = 0;
  uint32_t fresh_ = 1;  // nodes from this number on were never used, and are in no list
  BuddyStore data_;
  uint64_t drops_ = 0;
};

}  // namespace dvm::vm
