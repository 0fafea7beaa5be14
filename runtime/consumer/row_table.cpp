// Rows in blocks, and their index. Tested by tests/unit/runtime/row_table_test.cpp.

#include "runtime/consumer/row_table.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "runtime/buffer/key_words.h"

namespace dvm::runtime {
namespace {

constexpr size_t kFirstBlock = 4096, kLargestBlock = 1 << 20;

std::span<const std::byte> bytes_of(std::string_view key) { return std::as_bytes(std::span(key)); }

bool is_same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && is_same_key(bytes_of(a).data(), bytes_of(b).data(), a.size());
}

}  // namespace

uint64_t hash_of(std::string_view key) { return hash_key(0, bytes_of(key)); }

void KeyIndex::put(Slot slot) {
  const size_t mask = slots_.size() - 1;
  size_t at = slot.hash & mask;
  while (slots_[at].number != 0) at = (at + 1) & mask;
  slots_[at] = slot;
}

void KeyIndex::reserve(size_t keys) {
  const size_t size = std::bit_ceil(2 * keys);
  if (size <= slots_.size()) return;
  std::vector<Slot> old(size);
  old.swap(slots_);
  for (const Slot& slot : old)
    if (slot.number != 0) put(slot);
}

std::byte* RowTable::allocate(size_t bytes) {
  if (bytes > block_size_ - used_) {
    block_size_ = std::max(std::clamp(2 * block_size_, kFirstBlock, kLargestBlock), bytes);
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(block_size_));
    block_bytes_ += block_size_;
    used_ = 0;
  }
  std::byte* at = blocks_.back().get() + used_;
  used_ += bytes;
  return at;
}

MergedRow& RowTable::find_or_add(const MergedAggregation& aggregation, std::string_view key, unsigned words, uint64_t initial) {
  const auto next = static_cast<uint32_t>(rows_.size());
  const uint32_t number = index_.find_or_add(hash_of(key), next, [&](uint32_t row) { return is_same(rows_[row]->key, key); });
  if (number != next) return *rows_[number];
  std::byte* at = allocate(sizeof(MergedRow) + words * sizeof(uint64_t) + key.size());
  auto* state = reinterpret_cast<uint64_t*>(at + sizeof(MergedRow));
  auto* text = reinterpret_cast<char*>(state + words);
  std::fill_n(state, words, initial);
  std::copy(key.begin(), key.end(), text);
  rows_.push_back(new (at) MergedRow{&aggregation, {text, key.size()}, {state, words}});
  return *rows_.back();
}

const MergedRow* RowTable::find(std::string_view key) const {
  const uint32_t found = index_.find(hash_of(key), [&](uint32_t number) { return rows_[number]->key == key; });
  return found == 0 ? nullptr : rows_[found - 1];
}

void RowTable::keep_only(std::span<const MergedRow* const> kept) {
  RowTable fresh;
  for (const MergedRow* row : kept) {
    MergedRow& copy = fresh.find_or_add(*row->aggregation, row->key, static_cast<unsigned>(row->state.size()), 0);
    std::copy(row->state.begin(), row->state.end(), copy.state.begin());
  }
  *this = std::move(fresh);
}

size_t RowTable::bytes() const { return index_.bytes() + rows_.capacity() * sizeof(MergedRow*) + block_bytes_; }

}  // namespace dvm::runtime
