// Hash chains over nodes of a fixed array. Covered by tests/unit/vm/dynamic_variables_test.cpp.

#include "vm/state/dynamic_variables.h"

#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "common/hot.h"
#include "vm/state/address.h"
#include "vm/state/words.h"

namespace dvm::vm {

namespace {

constexpr size_t align8(size_t n) { return (n + 7) & ~size_t{7}; }

uint64_t mix(uint64_t hash, uint64_t word) { return std::rotl((hash ^ word) * 0x9e3779b97f4a7c15u, 29); }

uint64_t mix_bytes(uint64_t hash, const std::byte* at, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(at), size);
  const size_t rest = size % 8, whole = size - rest;
  for (size_t done = 0; done < whole; done += 8) hash = mix(hash, loaded<uint64_t>(bytes.data() + done));
  return mix(hash, last_word(bytes, rest));
}

bool by_reference(const TupleEntry& entry) { return entry.type != dif::PushType::value; }
const std::byte* bytes_of(const TupleEntry& entry) {
  return by_reference(entry) ? entry.bytes : reinterpret_cast<const std::byte*>(&entry.value);
}
size_t size_of(const TupleEntry& entry) { return by_reference(entry) ? entry.size : sizeof(entry.value); }

DVM_HOT uint32_t hash_of(uint64_t scope, std::span<const TupleEntry> keys) {
  uint64_t hash = mix(scope >> 32 & 0xffffff, static_cast<uint32_t>(scope));
  for (const TupleEntry& entry : keys) {
    if (by_reference(entry))
      hash = mix_bytes(mix(hash, entry.size), bytes_of(entry), entry.size);
    else
      hash = mix(hash, entry.value);
  }
  return static_cast<uint32_t>(hash >> 32 ^ hash);
}

size_t stored_size(std::span<const TupleEntry> tuple) {
  size_t size = 0;
  for (const TupleEntry& entry : tuple) size += 8 + align8(size_of(entry));
  return size;
}

}  // namespace

// Half of the memory is for nodes with their buckets, half for data with its bookkeeping.
size_t DynamicVariables::nodes_in(size_t bytes) { return bytes / 2 / (sizeof(Node) + sizeof(uint32_t)); }
size_t DynamicVariables::granules_in(size_t bytes) { return bytes / 2 / (BuddyStore::kGranule + BuddyStore::kOverhead); }

DynamicVariables::DynamicVariables(size_t bytes, size_t nodes)
    : nodes_(nodes + 1), buckets_(std::bit_floor(nodes | 1)), data_(granules_in(bytes)) {}

DVM_HOT bool DynamicVariables::matches(const Node& node, uint64_t scope, Keys keys, uint32_t hash) noexcept {
  if (node.hash != hash || node.scope() != scope || node.tuple_entries != keys.size()) return false;
  if (keys.empty()) return true;
  const std::byte* stored = data_.at(node.tuple);
  const std::byte* const end = stored + node.tuple.bytes();
  for (const TupleEntry& entry : keys) {
    const uint64_t size = size_of(entry);
    if (static_cast<size_t>(end - stored) < 8 + align8(size)) return false;
    if (std::memcmp(stored, &size, 8) != 0 || (size != 0 && std::memcmp(stored + 8, bytes_of(entry), size) != 0)) return false;
    stored += 8 + align8(size);
  }
  return true;
}

// The link that names the node of the key, or the one that ends its chain.
DVM_HOT uint32_t* DynamicVariables::link_to(uint64_t scope, Keys keys, uint32_t hash) noexcept {
  uint32_t* link = &buckets_[hash & (buckets_.size() - 1)];
  while (*link != kNone && !matches(nodes_[*link], scope, keys, hash)) link = &nodes_[*link].next;
  return link;
}

DVM_HOT const DynamicNode* DynamicVariables::find(uint64_t scope, Keys keys) noexcept {
  const uint32_t at = *link_to(scope, keys, hash_of(scope, keys));
  return at == kNone ? nullptr : &nodes_[at];
}

bool DynamicVariables::store_tuple(Node& node, Keys keys) noexcept {
  if (keys.empty()) return true;
  node.tuple = data_.allocate(stored_size(keys));
  if (!node.tuple) return false;
  std::byte* at = data_.at(node.tuple);
  for (const TupleEntry& entry : keys) {
    const uint64_t size = size_of(entry);
    std::memcpy(at, &size, 8);
    if (size != 0) std::memcpy(at + 8, bytes_of(entry), size);
    at += 8 + align8(size);
  }
  return true;
}

DVM_HOT DynamicVariables::Node* DynamicVariables::find_or_insert(uint64_t scope, Keys keys) noexcept {
  const uint32_t hash = hash_of(scope, keys);
  uint32_t* link = link_to(scope, keys, hash);
  if (*link != kNone) return &nodes_[*link];
  if (free_ == kNone && fresh_ < nodes_.size()) free_ = fresh_++;
  if (free_ == kNone) return nullptr;
  Node& node = nodes_[free_];
  const uint32_t next_free = node.next;
  node = {kNone,
          hash,
          static_cast<int32_t>(scope),
          static_cast<uint16_t>(scope >> 32),
          (scope >> 48 & 1) != 0,
          !keys.empty(),
          static_cast<uint32_t>(keys.size()),
          {},
          {},
          0};
  if (!store_tuple(node, keys)) {
    node.next = next_free, node.id = 0;
    return nullptr;
  }
  *link = free_;
  free_ = next_free;
  live_++;
  return &node;
}

DVM_HOT bool DynamicVariables::store(uint64_t scope, Keys keys, uint64_t value) noexcept {
  if (value == 0) return erase(scope, keys);
  Node* node = find_or_insert(scope, keys);
  if (!node) {
    drops_++;
    return false;
  }
  return std::exchange(node->value, value) == 0;
}

void DynamicVariables::store_bytes(const DynamicKey& key, std::span<const std::byte> bytes, bool with_nul) noexcept {
  const size_t size = bytes.size() + with_nul;
  Node* node = find_or_insert(key.scope(), key.tuple);
  const BuddyStore::Block old = node ? node->bytes : BuddyStore::Block{};
  const bool fits = old && old.bytes() >= size;
  const BuddyStore::Block block = !node || fits ? old : data_.allocate(size);
  if (!block) {
    drops_++;
    if (node && node->value == 0) erase(key.scope(), key.tuple);
    return;
  }
  std::byte* to = data_.at(block);
  if (!bytes.empty()) std::memmove(to, bytes.data(), bytes.size());
  if (with_nul) to[bytes.size()] = std::byte{0};
  if (old && !fits) data_.release(old);
  node->bytes = block;
  node->value = address_of(to);
}

bool DynamicVariables::erase(uint64_t scope, Keys keys) noexcept {
  uint32_t* link = link_to(scope, keys, hash_of(scope, keys));
  if (*link == kNone) return false;
  erase_at(link);
  return true;
}

void DynamicVariables::forget_thread(int32_t tid) noexcept {
  for (uint32_t at = 1; at < fresh_; at++) {
    const Node& node = nodes_[at];
    if (node.id == 0 || !node.thread || node.tid != tid) continue;
    uint32_t* link = &buckets_[node.hash & (buckets_.size() - 1)];
    while (*link != at) link = &nodes_[*link].next;
    erase_at(link);
  }
}

void DynamicVariables::erase_at(uint32_t* link) noexcept {
  const uint32_t at = *link;
  Node& node = nodes_[at];
  if (node.tuple) data_.release(node.tuple);
  if (node.bytes) data_.release(node.bytes);
  *link = node.next;
  node.next = free_, node.id = 0;
  free_ = at;
  live_--;
}

}  // namespace dvm::vm
