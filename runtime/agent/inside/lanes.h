#pragma once
// Finds the lane of a thread. Part of fire.cpp. A new thread may take over the lane of one that has ended, with its contents:
// records and entries of arenas say whose they are.
//
// dvm frees such lanes as well, to give back their memory. It makes `retiring` odd before that, and even afterwards. So a thread
// that has taken a lane over checks whether that number has changed, and if so, leaves the lane.

#include "runtime/agent/inside/format.h"
#include "runtime/agent/inside/read.h"
#include "runtime/agent/inside/tails.h"

namespace dvm::runtime::inside {

inline constexpr uint32_t kProbes = 256;             // lanes that are tried for a thread, at most
inline constexpr uint64_t kSearchEvery = 2'000'000;  // ticks of the TSC, after a search that found no lane
inline constexpr long kSignalThread = 200, kNoSuchThread = -3;

[[gnu::always_inline]] inline bool take(uint64_t& from, uint64_t to, uint64_t before = 0) {
  return __atomic_compare_exchange_n(&from, &before, to, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

[[gnu::always_inline]] inline Lane* lanes_of(const Context& context) {
  return reinterpret_cast<Lane*>(&reinterpret_cast<DataHeader*>(context.data)[1]);
}

[[gnu::always_inline]] inline TailCalls& tails_of(const Context& context, const Lane& lane) {
  return reinterpret_cast<TailCalls*>(context.tails)[&lane - lanes_of(context)];
}

// The number of the arena that the thread may use: dvm has the other one.
[[gnu::always_inline]] inline uint64_t side_of(const Lane& lane) { return load(lane.arena) & 1; }
[[gnu::always_inline]] inline Arena& arena_of(DataHeader& header, const Context& context, const Lane& lane, uint64_t side) {
  const uint64_t arenas = reinterpret_cast<uint64_t>(&header) + arenas_at(context.lanes, context.ring_bytes);
  const uint64_t number = static_cast<uint64_t>(&lane - reinterpret_cast<Lane*>(&header + 1)) * 2 + side;
  return *reinterpret_cast<Arena*>(arenas + number * kArenaBytes);
}

[[gnu::always_inline]] inline uint32_t tries_of(const Context& context) {
  return context.lanes < kProbes ? context.lanes : kProbes;
}

// False: its thread is alive, or dvm is about to free the lane.
DVM_RARELY inline bool take_over(const Context& context, Lane& lane, uint32_t tid) {
  const uint64_t retiring = __atomic_load_n(&lane.retiring, __ATOMIC_SEQ_CST), owner = load(lane.owner);
  const bool is_idle = retiring % 2 == 0 && load(lane.turns) % 2 == 0;
  if (owner == 0 || !is_idle || call(kSignalThread, static_cast<long>(owner), 0) != kNoSuchThread) return false;
  if (!take(lane.owner, tid, owner)) return false;
  if (__atomic_load_n(&lane.retiring, __ATOMIC_SEQ_CST) != retiring) {
    take(lane.owner, owner, tid);
    return false;
  }
  auto* values =
      const_cast<volatile uint64_t*>(reinterpret_cast<ThreadVariables*>(context.variables)[&lane - lanes_of(context)].values);
  for (uint32_t i = 0; i < kMostVariables; i++) values[i] = 0;
  return true;
}

// If a process has more threads than lanes, each firing of a thread without a lane comes here, so searches are limited.
DVM_RARELY inline Lane* take_over_any(const Context& context, DataHeader& header, uint32_t tid) {
  const uint64_t now = __builtin_ia32_rdtsc();
  if (now - load(header.searched) < kSearchEvery) return nullptr;
  const uint32_t tries = tries_of(context);
  for (uint32_t i = 0; i < tries; i++)
    if (Lane& lane = lanes_of(context)[(tid + i) & (context.lanes - 1)]; take_over(context, lane, tid)) return &lane;
  __atomic_store_n(&header.searched, now, __ATOMIC_RELAXED);
  return nullptr;
}

// Null: none is free. A lane that is new to the thread loses the notes of tail calls of its former thread.
[[gnu::always_inline]] inline Lane* find_lane(const Context& context, DataHeader& header, uint32_t tid) {
  Lane* lanes = lanes_of(context);
  const uint32_t mask = context.lanes - 1, tries = tries_of(context);
  for (uint32_t i = 0; i < tries; i++)
    if (Lane* lane = &lanes[(tid + i) & mask]; load(lane->owner) == tid) return lane;
  Lane* found = nullptr;
  for (uint32_t i = 0; i < tries && found == nullptr; i++)
    if (Lane* lane = &lanes[(tid + i) & mask]; load(lane->owner) == 0 && take(lane->owner, tid)) found = lane;
  if (found == nullptr && !is_muted(context)) found = take_over_any(context, header, tid);
  if (found != nullptr) tails_of(context, *found).count = 0;
  return found;
}

}  // namespace dvm::runtime::inside
