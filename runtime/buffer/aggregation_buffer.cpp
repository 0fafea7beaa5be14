// Hash, probe, append. Tested by tests/unit/runtime/buffer_test.cpp.

#include "runtime/buffer/aggregation_buffer.h"

#include <algorithm>
#include <bit>

#include "runtime/buffer/key_words.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostMemory = size_t{16} << 30;  // entry offsets are 32 bits of 8 bytes

}  // namespace

bool AggregationBuffer::allocate(size_t bytes) {
  bytes = std::clamp<size_t>(bytes, 64, kMostMemory) & ~size_t{7};
  memory_ = allocate_buffer(bytes);
  if (!memory_) return false;
  size_t slots = std::bit_floor(bytes / 4 / sizeof(Slot));
  index_ = reinterpret_cast<Slot*>(memory_.get());
  mask_ = static_cast<uint32_t>(slots - 1);
  arena_ = memory_.get() + slots * sizeof(Slot);
  size_ = bytes - slots * sizeof(Slot);
  used_ = 0;
  entries_ = 0;
  return true;
}

uint64_t* AggregationBuffer::find(uint32_t aggregation, std::span<const std::byte> key, unsigned words,
                                  uint64_t initial) noexcept {
  const uint64_t hash = hash_of(aggregation, key);
  for (uint32_t at = first_slot(hash); index_[at].offset != 0; at = next_slot(at)) {
    const Slot slot = index_[at];
    if (slot.tag != tag_of(hash)) continue;
    std::byte* entry = arena_ + (slot.offset - 1) * size_t{8};
    const auto& header = *reinterpret_cast<const EntryHeader*>(entry);
    std::byte* its_key = entry + sizeof(EntryHeader);
    if (header.aggregation == aggregation && header.key_bytes == key.size() + extra_ &&
        is_same_key(its_key, key.data(), key.size()) && (extra_ == 0 || cpu_behind(its_key + key.size()) == cpu_)) [[likely]]
      return reinterpret_cast<uint64_t*>(its_key + header.key_bytes);
  }
  return add(aggregation, key, words, initial);
}

uint64_t* AggregationBuffer::find_again(RecentEntry& recent, uint32_t aggregation, std::span<const std::byte> key, unsigned words,
                                        uint64_t initial) noexcept {
  uint64_t* const state = find(aggregation, key, words, initial);
  if (state != nullptr) recent = {state, generation_, static_cast<uint32_t>(key.size())};
  return state;
}

uint64_t* AggregationBuffer::add(uint32_t aggregation, std::span<const std::byte> key, unsigned words,
                                 uint64_t initial) noexcept {
  const size_t key_bytes = key.size() + extra_;
  size_t need = sizeof(EntryHeader) + key_bytes + words * sizeof(uint64_t);
  if (need > size_ - used_ || entries_ >= mask_) return nullptr;  // one slot stays free, so that a search ends
  const uint64_t hash = hash_of(aggregation, key);
  uint32_t at = first_slot(hash);
  while (index_[at].offset != 0) at = next_slot(at);
  std::byte* entry = arena_ + used_;
  *reinterpret_cast<EntryHeader*>(entry) = {aggregation, at, static_cast<uint32_t>(key_bytes), words};
  std::byte* behind = std::copy(key.begin(), key.end(), entry + sizeof(EntryHeader));
  if (extra_ != 0) *reinterpret_cast<int64_t*>(behind) = cpu_;
  auto* state = reinterpret_cast<uint64_t*>(behind + extra_);
  std::fill(state, state + words, initial);
  index_[at] = {tag_of(hash), static_cast<uint32_t>(used_ / 8 + 1)};
  used_ += need;
  entries_++;
  return state;
}

void AggregationBuffer::visit(const Visit& each) const {
  for (size_t at = 0; at < used_;) {
    const auto& header = *reinterpret_cast<const EntryHeader*>(arena_ + at);
    const std::byte* key = arena_ + at + sizeof(EntryHeader);
    const auto* words = reinterpret_cast<const uint64_t*>(key + header.key_bytes);
    const size_t its_bytes = header.key_bytes - extra_;
    each({header.aggregation, std::span(key, its_bytes), std::span(words, header.words),
          extra_ == 0 ? AggregationEntry::kAllCpus : cpu_behind(key + its_bytes)});
    at += sizeof(EntryHeader) + header.key_bytes + header.words * sizeof(uint64_t);
  }
}

void AggregationBuffer::clear() noexcept {
  for (size_t at = 0; at < used_;) {
    const auto& header = *reinterpret_cast<const EntryHeader*>(arena_ + at);
    index_[header.slot] = {};
    at += sizeof(EntryHeader) + header.key_bytes + header.words * sizeof(uint64_t);
  }
  used_ = 0;
  entries_ = 0;
  begin_generation();
}

}  // namespace dvm::runtime
