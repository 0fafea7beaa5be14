#pragma once
// Runs a clause in the traced thread, as fire.cpp includes it. The bodies of the aggregating functions are dvm's (dif/update.h).

#include "dvm/dif/update.h"
#include "runtime/agent/inside/format.h"

namespace dvm::runtime::inside {

// The words of a state, as the templates of dvm/dif/update.h see them.
struct StateWords {
  uint64_t* state;

  static uint64_t constant(uint64_t number) { return number; }
  uint64_t get(uint64_t index) const { return state[index]; }
  void set(uint64_t index, uint64_t value) const { state[index] = value; }
  void add(uint64_t index, uint64_t amount) const { state[index] += amount; }
  static bool less(uint64_t a, uint64_t b) { return static_cast<int64_t>(a) < static_cast<int64_t>(b); }
  static uint64_t choose(bool condition, uint64_t a, uint64_t b) { return condition ? a : b; }
  static uint64_t leading_zeros(uint64_t n) { return n == 0 ? 64 : static_cast<uint64_t>(__builtin_clzll(n)); }
};

enum class SiteFunction : uint32_t {
#define DVM_UPDATE(name) name,
#include "vm/dif/updates.def"
};

inline void update(SiteFunction function, uint64_t* state, uint64_t value) {
#define DVM_UPDATE(name) \
  if (function == SiteFunction::name) return dif::update_##name(StateWords{state}, value, uint64_t{1});
#include "vm/dif/updates.def"
}

inline constexpr uint32_t kEntryRoom = kArenaBytes - sizeof(Arena);
inline constexpr uint32_t kTries = 16;  // buckets for a key

// The process may have written anything into the arena: a position that cannot be is no entry.
inline ArenaEntry* entry_at(Arena& arena, uint32_t position, uint32_t bytes) {
  if (position % sizeof(uint64_t) != 0 || position > kEntryRoom - bytes) return nullptr;
  return reinterpret_cast<ArenaEntry*>(reinterpret_cast<uint64_t>(&arena + 1) + position);
}

inline bool is_of(const ArenaEntry& entry, const SiteClause& clause, const uint64_t* keys) {
  uint64_t difference = (entry.clause ^ clause.clause) | (entry.words ^ clause.words);
  for (uint32_t i = 0; i < kMostKeys; i++) difference |= entry.keys[i] ^ keys[i];
  return difference == 0;
}

inline uint64_t* make_entry(Arena& arena, uint32_t& bucket, const SiteClause& clause, const uint64_t* keys, uint32_t bytes) {
  const uint64_t used = arena.used;
  if (used > kEntryRoom - bytes) return nullptr;
  ArenaEntry* entry = entry_at(arena, static_cast<uint32_t>(used), bytes);
  if (entry == nullptr) return nullptr;
  entry->clause = clause.clause;
  entry->words = clause.words;
  for (uint32_t i = 0; i < kMostKeys; i++) entry->keys[i] = keys[i];
  auto* state = reinterpret_cast<volatile uint64_t*>(entry + 1);
  for (uint32_t i = 0; i < clause.words; i++) state[i] = clause.initial;
  arena.used = used + bytes;
  bucket = static_cast<uint32_t>(used) + 1;
  return reinterpret_cast<uint64_t*>(entry + 1);
}

// The state of the keys; null: there is no room.
inline uint64_t* find_state(Arena& arena, const SiteClause& clause, const uint64_t* keys) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  constexpr unsigned kShift = 54;
  static_assert(kArenaBuckets == 1U << (64 - kShift));
  const auto bytes = static_cast<uint32_t>(sizeof(ArenaEntry) + clause.words * sizeof(uint64_t));
  uint64_t hash = clause.clause + 1;
  for (uint32_t i = 0; i < clause.key_count; i++) hash = (hash ^ keys[i]) * kMultiplier;
  const uint64_t first = (hash * kMultiplier) >> kShift;
  for (uint32_t i = 0; i < kTries; i++) {
    uint32_t& bucket = arena.buckets[(first + i) & (kArenaBuckets - 1)];
    if (bucket == 0) return make_entry(arena, bucket, clause, keys, bytes);
    ArenaEntry* entry = entry_at(arena, bucket - 1, bytes);
    if (entry != nullptr && is_of(*entry, clause, keys)) return reinterpret_cast<uint64_t*>(entry + 1);
  }
  return nullptr;
}

inline uint64_t evaluate(uint64_t code, const uint64_t* saved, uint64_t tid) {
  using Evaluate = uint64_t (*)(const uint64_t* saved, uint64_t tid);
  return reinterpret_cast<Evaluate>(code)(saved, tid);
}

inline UpdateRecord make_update(const SiteClause& clause, const uint64_t* saved, uint64_t tid) {
  UpdateRecord made{.clause = clause.clause};
  for (uint32_t i = 0; i < clause.key_count; i++) made.keys[i] = evaluate(clause.keys[i], saved, tid);
  if (clause.value != 0) made.value = evaluate(clause.value, saved, tid);
  return made;
}

// False: there is no room.
inline bool aggregate(const SiteClause& clause, Arena& arena, const UpdateRecord& one) {
  uint64_t* state = find_state(arena, clause, one.keys);
  if (state == nullptr) return false;
  update(static_cast<SiteFunction>(clause.function), state, one.value);
  return true;
}

}  // namespace dvm::runtime::inside
