#pragma once
// Aggregates in the traced thread. Part of fire.cpp. The bodies of the aggregating functions are those of dvm (dif/update.h).

#include "dvm/dif/shaped_update.h"
#include "dvm/dif/update.h"
#include "runtime/agent/inside/clause_steps.h"
#include "runtime/agent/inside/frames.h"
#include "runtime/agent/inside/read.h"
#include "runtime/agent/inside/texts.h"

namespace dvm::runtime::inside {

enum class SiteFunction : uint32_t {
#define DVM_UPDATE(name) name,
#include "vm/dif/updates.def"
  stddev,
  lquantize,
  llquantize,
};

inline void update_llquantize(const UpdateShape& shape, uint64_t* state, int64_t value) {
  const int64_t* p = shape.parameters;
  const uint64_t zero = (shape.words - 1) / 2;
  const uint64_t distance = dif::llquantize_distance(p[0], p[1], p[2], p[3], zero, dif::magnitude(value));
  state[value < 0 ? zero - distance : zero + distance]++;
}

[[gnu::always_inline]] inline void update(SiteFunction function, const UpdateShape& shape, uint64_t* state, uint64_t value) {
#define DVM_UPDATE(name) \
  if (function == SiteFunction::name) return dif::update_##name(dif::IntegerWords{state}, value, uint64_t{1});
#include "vm/dif/updates.def"
  const auto number = static_cast<int64_t>(value);
  if (function == SiteFunction::stddev) return dif::update_stddev(state, number);
  if (function == SiteFunction::llquantize) return update_llquantize(shape, state, number);
  state[dif::lquantize_bucket(shape.parameters[0], shape.parameters[2], shape.words, number)]++;
}

inline constexpr uint32_t kMostWords = 1024;  // of a state
inline constexpr uint32_t kEntryRoom = kArenaBytes - sizeof(Arena);
inline constexpr uint32_t kTries = 16;  // buckets for a key

// Null: no entry can be there, because the process has written something else into the arena.
inline ArenaEntry* entry_at(Arena& arena, uint32_t position, uint32_t bytes) {
  if (position % sizeof(uint64_t) != 0 || position > kEntryRoom - bytes) return nullptr;
  return reinterpret_cast<ArenaEntry*>(reinterpret_cast<uint64_t>(&arena + 1) + position);
}

// Each multiplication takes two words, and depends on no other one.
inline constexpr uint64_t kOdd1 = 0x9e3779b97f4a7c15, kOdd2 = 0xff51afd7ed558ccd;
constexpr uint64_t first_factor(uint32_t word) { return kOdd1 + word * kOdd2; }
[[gnu::always_inline]] inline uint64_t hash_words(const uint64_t* words, uint32_t count, uint64_t hash) {
  __extension__ using Wide = unsigned __int128;
  uint64_t factor = kOdd1;
  for (uint32_t i = 0; i < count; i += 2, factor += 2 * kOdd2) {
    const Wide product = static_cast<Wide>(factor ^ words[i]) * (i + 1 < count ? kOdd2 ^ words[i + 1] : kOdd1);
    hash += static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  return hash;
}

[[gnu::always_inline]] inline bool is_of(const ArenaEntry& entry, const ThreadAggregation& clause, const uint64_t* key,
                                         uint32_t words) {
  uint64_t difference = (entry.clause ^ clause.clause) | (entry.words ^ clause.words) | (entry.key_words ^ words);
  const auto* its = reinterpret_cast<const uint64_t*>(&entry + 1);
  for (uint32_t i = 0; i < words; i++) difference |= its[i] ^ key[i];
  return difference == 0;
}

DVM_RARELY inline uint64_t* make_entry(Arena& arena, uint32_t& bucket, const ThreadAggregation& clause, uint32_t key_words,
                                       uint32_t bytes) {
  const uint64_t used = arena.used;
  if (used > kEntryRoom - bytes) return nullptr;
  ArenaEntry* entry = entry_at(arena, static_cast<uint32_t>(used), bytes);
  if (entry == nullptr) return nullptr;
  entry->clause = clause.clause;
  entry->words = clause.words;
  entry->key_words = key_words;
  auto* words = reinterpret_cast<volatile uint64_t*>(entry + 1);  // no call of memcpy or memset
  for (uint32_t i = 0; i < key_words; i++) words[i] = arena.key[i];
  for (uint32_t i = 0; i < clause.words; i++) words[key_words + i] = clause.initial;
  arena.used = used + bytes;
  bucket = static_cast<uint32_t>(used) + 1;
  return reinterpret_cast<uint64_t*>(entry + 1) + key_words;
}

// The first bucket for a key.
inline constexpr uint64_t kBucketMultiplier = 0x9e3779b97f4a7c15;
inline constexpr unsigned char kBucketShift = 54;
static_assert(kArenaBuckets == 1U << (64 - kBucketShift));
[[gnu::always_inline]] inline uint64_t first_bucket(uint32_t clause, const uint64_t* key, uint32_t key_words) {
  return (hash_words(key, key_words, clause + 1) * kBucketMultiplier) >> kBucketShift;
}

// The state of the key in the arena; null: there is no room.
[[gnu::always_inline]] inline uint64_t* find_state(Arena& arena, const ThreadAggregation& clause, uint32_t key_words) {
  const auto bytes = static_cast<uint32_t>(sizeof(ArenaEntry) + (key_words + clause.words) * sizeof(uint64_t));
  const uint64_t first = first_bucket(clause.clause, arena.key, key_words);
  for (uint32_t i = 0; i < kTries; i++) {
    uint32_t& bucket = arena.buckets[(first + i) & (kArenaBuckets - 1)];
    if (bucket == 0) return make_entry(arena, bucket, clause, key_words, bytes);
    ArenaEntry* entry = entry_at(arena, bucket - 1, bytes);
    if (entry != nullptr && is_of(*entry, clause, arena.key, key_words))
      return reinterpret_cast<uint64_t*>(entry + 1) + key_words;
  }
  return nullptr;
}

// True if the lane has a counter for it, so that the arena needs no entry.
[[gnu::always_inline]] inline bool is_plain_count(const ThreadAggregation& clause) {
  const bool is_count = clause.function == static_cast<uint32_t>(SiteFunction::count);
  return is_count && clause.key_count == 0 && clause.clause < kPlainCounts;
}

// Code of runtime/instrument/agent/value_code.h. It needs a stack without a red zone.
inline uint64_t evaluate(uint64_t code, const uint64_t* saved, Workspace& workspace) {
  Workspace* its = &workspace;
  uint64_t value;
  asm volatile("call *%[code]"
               : "=a"(value), "+D"(saved), "+S"(its)
               : [code] "r"(code), "b"(workspace.variables)
               : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
  return value;
}

// Returns the number of words of a key that is not an integer; 0: it cannot be read. For a stack, that is counted here.
[[gnu::always_inline]] inline uint32_t read_key(const Context& context, Lane* lane, const SiteKey& key, const uint64_t* saved,
                                                uint64_t address, uint64_t stack_pointer, uint64_t* to) {
  if (key.kind == KeyKind::string) return read_text(context, lane, stack_pointer, address, to, key.most);
  if (key.kind == KeyKind::name) return read_name(context, to, key.most);
  if (key.kind == KeyKind::text) return read_own_text(context, lane, key.variable, to, key.most);
  const uint32_t words = read_frames(context, lane, key, saved, to);
  if (words == 0) __atomic_fetch_add(&reinterpret_cast<DataHeader*>(context.data)->muted, 1, __ATOMIC_RELAXED);
  return words;
}

// fault: dvm must run the clause. muted: a stack cannot be read, and dvm could not read it either.
enum class KeyRead : uint8_t { whole, fault, muted };

// Writes the key into the arena.
inline KeyRead make_key(const ThreadAggregation& clause, const Context& context, Arena& arena, const uint64_t* saved,
                        Workspace& workspace, uint32_t& words) {
  for (uint32_t i = 0; i < clause.key_count; i++) {
    const SiteKey& key = clause.keys[i];
    uint64_t* to = arena.key + words;
    const uint64_t value = key.code != 0 ? evaluate(key.code, saved, workspace) : 0;
    uint32_t added = 1;
    if (key.kind == KeyKind::integer)
      *to = value;
    else
      added = read_key(context, workspace.lane, key, saved, value, saved[kStackWord], to);
    if (added == 0 && key.kind == KeyKind::string) workspace.unreadable = value;
    if (added == 0) return key.kind == KeyKind::stack ? KeyRead::muted : KeyRead::fault;
    words += added;
  }
  return KeyRead::whole;
}

// Counts in one instruction, so that a signal handler that does the same can interrupt anywhere.
[[gnu::always_inline]] inline void count_plainly(Lane& lane, uint32_t clause, uint64_t side) {
  asm volatile("incq %0" : "+m"(lane.counts[clause][side]) : : "cc");
}

// False: there is no room.
[[gnu::always_inline]] inline bool aggregate(const ThreadAggregation& clause, Arena& arena, uint32_t key_words, uint64_t value) {
  uint64_t* state = find_state(arena, clause, key_words);
  if (state == nullptr) return false;
  update(static_cast<SiteFunction>(clause.function), clause.shape, state, value);
  return true;
}

}  // namespace dvm::runtime::inside
