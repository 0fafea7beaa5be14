#pragma once
// The consumer's rows of an aggregation, found by key. A hash table with open addressing refers to rows that are stored one after
// the other in large blocks. So a new key needs no allocation of its own, and many keys need little more memory than their bytes.
//
//   slots   | hash, row | - | hash, row | ...            at most half of them in use; a power of two
//   blocks  | MergedRow, state, key | MergedRow, ... |   rows do not move until keep_only()

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace dvm::runtime {

struct MergedAggregation;

struct MergedRow {
  const MergedAggregation* aggregation = nullptr;
  std::string_view key;  // as in the aggregation buffer
  std::span<uint64_t> state;
};

// A hash table from keys to numbers from 0. The caller stores and compares the keys.
class KeyIndex {
 public:
  // The number of a key. If it is new, adds it as `next`. same(number): true if the key with that number is this one.
  template <class Same>
  uint32_t find_or_add(uint64_t hash, uint32_t next, Same&& same);
  // The number plus 1, or 0: there is no such key.
  template <class Same>
  uint32_t find(uint64_t hash, Same&& same) const;
  // Makes room for a number of keys.
  void reserve(size_t keys);
  size_t bytes() const { return slots_.size() * sizeof(Slot); }

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t number = 0;  // plus 1; 0: free
  };
  void put(Slot slot);

  std::vector<Slot> slots_;
  size_t used_ = 0;
};

class RowTable {
 public:
  // The row of the key; a new one has every word of its state `initial`. The key's bytes are a multiple of 8.
  MergedRow& find_or_add(const MergedAggregation& aggregation, std::string_view key, unsigned words, uint64_t initial);
  // Null: there is no such row.
  const MergedRow* find(std::string_view key) const;
  // Removes all other rows. The addresses of the kept rows change.
  void keep_only(std::span<const MergedRow* const> kept);

  std::span<MergedRow* const> rows() const { return rows_; }
  size_t size() const { return rows_.size(); }
  // Total memory in use.
  size_t bytes() const;

 private:
  std::byte* allocate(size_t bytes);

  KeyIndex index_;
  std::vector<MergedRow*> rows_;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  size_t block_size_ = 0, used_ = 0;  // of the last block
  size_t block_bytes_ = 0;            // of all blocks
};

uint64_t hash_of(std::string_view key);

template <class Same>
uint32_t KeyIndex::find(uint64_t hash, Same&& same) const {
  const auto low = static_cast<uint32_t>(hash);
  const size_t mask = slots_.size() - 1;
  for (size_t at = low & mask; !slots_.empty() && slots_[at].number != 0; at = (at + 1) & mask)
    if (slots_[at].hash == low && same(slots_[at].number - 1)) return slots_[at].number;
  return 0;
}

template <class Same>
uint32_t KeyIndex::find_or_add(uint64_t hash, uint32_t next, Same&& same) {
  if (2 * (used_ + 1) > slots_.size()) reserve(std::max<size_t>(2 * used_, 8));
  const auto low = static_cast<uint32_t>(hash);
  const size_t mask = slots_.size() - 1;
  size_t at = low & mask;
  for (; slots_[at].number != 0; at = (at + 1) & mask)
    if (slots_[at].hash == low && same(slots_[at].number - 1)) return slots_[at].number - 1;
  slots_[at] = {low, next + 1};
  used_++;
  return next;
}

}  // namespace dvm::runtime
