#pragma once
// The aggregation buffer: fixed memory of aggsize bytes that holds the state of every (aggregation, key) since the last snapshot.
// The consumer merges it into its own table and empties it, so only what changed within one aggrate must fit.
//
//   index    | tag, offset | tag, offset | ...      a quarter of the memory; open addressing, linear probing; offset 0: free
//   arena    | EntryHeader | key, a multiple of 8 bytes | state words | EntryHeader | ...
//
// With aggpercpu, the CPU follows the key as a further word.
//
// find() is probe context: no allocation, no lock.

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/buffer/key_words.h"
#include "runtime/buffer/principal_buffer.h"
#include "runtime/buffer/sources.h"

namespace dvm::runtime {

// The last entry found for an aggregation. Successive firings often have the same key.
struct RecentEntry {
  uint64_t* state = nullptr;
  uint32_t generation = 0;  // of the buffer, in which the address is valid
  uint32_t key_bytes = 0;
};

class AggregationBuffer final : public AggregationSource {
 public:
  // False: no memory of this size.
  bool allocate(size_t bytes);
  // Keeps a state for each key and CPU. Call before the first find().
  void part_by_cpu() { extra_ = sizeof(uint64_t); }
  // Sets the CPU of the next lookups. No effect without part_by_cpu().
  void select(int32_t cpu) noexcept {
    if (extra_ == 0 || cpu == cpu_) return;
    cpu_ = cpu;
    begin_generation();
  }

  // The state of a key. If the key is new, every word is `initial`. Null: there is no room, which the caller counts as a drop.
  // key.size() must be a multiple of 8. The address is valid until generation() changes.
  uint64_t* find(uint32_t aggregation, std::span<const std::byte> key, unsigned words, uint64_t initial) noexcept;
  // The same as find(), but tries `recent` first, the entry of this aggregation, and updates it.
  uint64_t* find_again(RecentEntry& recent, uint32_t aggregation, std::span<const std::byte> key, unsigned words,
                       uint64_t initial) noexcept;
  // True if `recent` is the entry of the key.
  bool is_entry(const RecentEntry& recent, std::span<const std::byte> key) const noexcept {
    return recent.generation == generation_ && recent.key_bytes == key.size() &&
           is_same_key(reinterpret_cast<const std::byte*>(recent.state) - extra_ - key.size(), key.data(), key.size());
  }

  // Changes whenever addresses that find() returned become invalid. Never 0.
  uint32_t generation() const noexcept { return generation_; }
  const uint32_t* generation_address() const noexcept { return &generation_; }

  void visit(const Visit& each) const override;
  void clear() noexcept override;

  bool empty() const noexcept override { return used_ == 0; }
  bool wants_reading() const noexcept override { return used_ > size_ / 2; }

 private:
  struct Slot {
    uint32_t tag;
    uint32_t offset;  // of the entry in the arena, in units of 8 bytes, plus 1
  };
  struct EntryHeader {
    uint32_t aggregation;
    uint32_t slot;
    uint32_t key_bytes;
    uint32_t words;
  };
  uint64_t hash_of(uint32_t aggregation, std::span<const std::byte> key) const noexcept {
    return hash_key(aggregation ^ (static_cast<uint32_t>(cpu_) << 16), key);
  }
  static int32_t cpu_behind(const std::byte* key_end) noexcept { return static_cast<int32_t>(key_word(key_end)); }
  static uint32_t tag_of(uint64_t hash) noexcept { return static_cast<uint32_t>(hash >> 32); }
  uint32_t first_slot(uint64_t hash) const noexcept { return static_cast<uint32_t>(hash) & mask_; }
  uint32_t next_slot(uint32_t slot) const noexcept { return (slot + 1) & mask_; }
  // Adds a new key. Separate from find(), so that the common path saves fewer registers.
  [[gnu::noinline, gnu::cold]] uint64_t* add(uint32_t aggregation, std::span<const std::byte> key, unsigned words,
                                             uint64_t initial) noexcept;
  void begin_generation() noexcept {
    if (++generation_ == 0) generation_ = 1;
  }

  BufferMemory memory_;
  Slot* index_ = nullptr;
  uint32_t mask_ = 0;  // slots - 1
  uint32_t entries_ = 0;
  std::byte* arena_ = nullptr;
  size_t size_ = 0;  // of the arena
  size_t used_ = 0;
  uint32_t generation_ = 1;
  int32_t cpu_ = AggregationEntry::kAllCpus;
  size_t extra_ = 0;  // bytes of the CPU behind a key
};

}  // namespace dvm::runtime
