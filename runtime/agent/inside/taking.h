#pragma once
// The taker's side of steady memory (steady.h): system calls that take memory away. Part of fire.cpp.

#include <cstdint>

#include "runtime/agent/inside/steady_read.h"
#include "runtime/agent/inside/watch.h"

namespace dvm::runtime::inside {

inline constexpr uint64_t kAllMemory = ~uint64_t{0};
inline constexpr uint32_t kResultWord = 10;  // of the saved registers: %rax

// The memory that a call takes away. is_end: from now on, no memory is steady.
struct TakenMemory {
  MemoryRange ranges[2]{};
  bool is_end = false;
};

// The pages of some bytes, up to the end of the address space at most.
[[gnu::always_inline]] inline MemoryRange pages_of(uint64_t begin, uint64_t bytes) {
  const uint64_t first = begin & ~(kPage - 1);
  return {first, bytes > kAllMemory - kPage - begin ? kAllMemory : (begin + bytes + kPage - 1) & ~(kPage - 1)};
}

// Memory that becomes executable holds code that dvm has not checked. After mmap(2), dvm checks it before memory is steady again.
// After mprotect(2) there is no such time, because the process may have written the code before.
[[gnu::noinline]] inline TakenMemory memory_taken(const MemoryCall& call) {
  constexpr uint64_t kReadIsExecute = 0x400000, kExecuteSegment = 0x8000;
  constexpr uint64_t kAccess = 3, kExecute = 4, kFixedMap = 0x10, kFixedMove = 2, kPoison = 100, kRemap = 0x4000;
  constexpr uint64_t kGrows = 0x3000000;             // from the beginning or to the end of the mapping
  constexpr uint64_t kFarthest = uint64_t{1} << 40;  // larger than any heap, smaller than the distance to other mappings
  const MemoryRange all{0, kAllMemory}, first = pages_of(call.a, call.b);
  switch (static_cast<MemoryCallNumber>(call.number)) {
    case kMmap:
      if ((call.c & kExecute) != 0) return {{all}};
      return {{(call.d & kFixedMap) != 0 ? first : MemoryRange{}}};
    case kMprotect:
      if ((call.c & kGrows) != 0) return {{all}};
      if ((call.c & kExecute) != 0) return {{all}, true};
      return {{(call.c & kAccess) == 0 ? first : MemoryRange{}}};
    case kMremap:
      return {{first, (call.d & kFixedMove) != 0 ? pages_of(call.e, call.c) : MemoryRange{}}};
    case kBrk:
      return {{call.a != 0 ? pages_of(call.a, kFarthest) : MemoryRange{}}};
    case kMadvise:
      return {{call.c >= kPoison ? first : MemoryRange{}}};
    case kShmat:
      if ((call.c & kExecuteSegment) != 0) return {{all}, true};
      return {{(call.c & kRemap) != 0 ? MemoryRange{call.b & ~(kPage - 1), kAllMemory} : MemoryRange{}}};
    case kMunmap:
    case kRemapFilePages:
      return {{first}};
    case kPkeyMprotect:  // dvm does not look for protection keys again
      return {{all}, true};
    case kProcessMadvise:
      return {{all}};
    case kPersonality:  // all readable memory becomes executable
      return {{(call.a & kReadIsExecute) != 0 && static_cast<uint32_t>(call.a) != ~0U ? all : MemoryRange{}}, true};
    case kClone:
    case kClone3:
    case kVfork:
    case kRingSetup:
    case kRingEnter:
    case kUserfaultfd:
      return {{all}, true};
  }
  return {};
}

// The call that begins at the site.
[[gnu::always_inline]] inline MemoryCall call_at(const Site& site, const uint64_t* saved) {
  const uint64_t rdi = saved[14], rsi = saved[13], rdx = saved[12], rcx = saved[11], r8 = saved[9], r9 = saved[8];
  if (site.watch == Watch::syscall) return {plain_number(rdi), rsi, rdx, rcx, r8, r9};
  return {site.number, rdi, rsi, rdx, site.taking == Taking::begins_function ? rcx : saved[7], r8};
}

// The taker of this thread for a call at that stack pointer, or a free one, which is claimed. Null: none is free.
[[gnu::noinline]] inline MemoryTaker* claim_taker(SteadyMemory& steady, uint64_t stack_pointer) {
  const uint64_t thread = thread_pointer();
  for (MemoryTaker& one : steady.takers)
    if (load(one.thread) == thread && load(one.stack_pointer) == stack_pointer) return &one;
  for (MemoryTaker& one : steady.takers)
    if (load(one.thread) == 0 && take(one.thread, kTakerClaimed)) return &one;
  return nullptr;
}

// True if the table had some of the memory.
[[gnu::noinline]] inline bool cut(SteadyTable& table, const MemoryRange& taken) {
  bool was_steady = false;
  for (uint64_t i = 0; i < table.count && i < kMostSteady; i++) {
    MemoryRange& one = table.ranges[i];
    const uint64_t left = taken.begin > one.begin ? taken.begin : one.begin;
    uint64_t end = load(one.end);
    while (taken.end > one.begin && end > left) {
      was_steady = true;
      if (__atomic_compare_exchange_n(&one.end, &end, left, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) break;
    }
  }
  return was_steady;
}

// Restarts the readers if the memory was steady, or if a thread that has cut it out before has not restarted them yet.
[[gnu::noinline]] inline void cut_out(const Context& context, const TakenMemory& taken) {
  SteadyMemory& steady = steady_memory(context);
  __atomic_fetch_add(&steady.restarting, uint64_t{1}, __ATOMIC_SEQ_CST);
  bool was_steady = false;
  for (SteadyTable& table : steady.tables)
    for (const MemoryRange& range : taken.ranges) was_steady |= cut(table, range);
  const bool restarts = was_steady || __atomic_load_n(&steady.restarting, __ATOMIC_SEQ_CST) > 1;
  if (restarts && !restart_readers(context)) end_steady(context);
  __atomic_fetch_sub(&steady.restarting, uint64_t{1}, __ATOMIC_SEQ_CST);
}

// No MemoryTaker is free: no table is in use until the call has ended, or never again if its end is not noticed.
[[gnu::noinline]] inline void begin_unnamed(const Context& context, bool is_known_to_end) {
  if (!is_known_to_end) return end_steady(context);
  __atomic_fetch_add(&steady_memory(context).unnamed, uint64_t{1}, __ATOMIC_SEQ_CST);
  drop_table(context);
}

[[gnu::noinline]] inline void begin_taking(const Site& site, uint64_t number, const TakenMemory& taken, uint64_t stack_pointer) {
  const Context& context = site.context;
  SteadyMemory& steady = steady_memory(context);
  if (taken.ranges[0].end == 0) return;
  if (taken.is_end) {
    take(steady.ended_by, number + 1);
    return end_steady(context);
  }
  MemoryTaker* taker = claim_taker(steady, stack_pointer);
  if (taker == nullptr) return begin_unnamed(context, site.number != 0);
  for (unsigned i = 0; i < 2; i++) taker->ranges[i] = taken.ranges[i];
  taker->stack_pointer = stack_pointer;
  __atomic_store_n(&taker->thread, thread_pointer(), __ATOMIC_SEQ_CST);
  __atomic_fetch_add(&steady.state, kSteadyStep, __ATOMIC_SEQ_CST);
  cut_out(context, taken);
}

// The kernel preserves the registers of the arguments, so they tell whether the call has claimed anything.
[[gnu::noinline]] inline void end_taking(const Site& site, const TakenMemory& taken, uint64_t stack_pointer) {
  SteadyMemory& steady = steady_memory(site.context);
  const uint64_t thread = thread_pointer();
  for (MemoryTaker& one : steady.takers)
    if (load(one.thread) == thread && load(one.stack_pointer) == stack_pointer)
      return __atomic_store_n(&one.thread, uint64_t{0}, __ATOMIC_SEQ_CST);
  if (site.number == 0 || taken.ranges[0].end == 0 || taken.is_end) return;
  uint64_t unnamed = load(steady.unnamed);
  while (unnamed != 0 &&
         !__atomic_compare_exchange_n(&steady.unnamed, &unnamed, unnamed - 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
}

// True if the call may start a task that shares memory and the thread pointer. Threads get a pointer of their own.
[[gnu::always_inline]] inline bool may_share_pointer(const Site& site, const uint64_t* saved) {
  constexpr uint64_t kVm = 0x100, kSetTls = 0x80000;
  return site.number != kClone || (saved[14] & (kVm | kSetTls)) == kVm;
}

// In the new task, the result of the call is 0.
[[gnu::always_inline]] inline void note_start(const Site& site, const uint64_t* saved) {
  uint64_t& starting = steady_memory(site.context).starting;
  if (!may_share_pointer(site, saved)) return;
  if (site.taking == Taking::starts) __atomic_fetch_add(&starting, uint64_t{1}, __ATOMIC_SEQ_CST);
  if (site.taking == Taking::started && saved[kResultWord] != 0 && load(starting) != 0)
    __atomic_fetch_sub(&starting, uint64_t{1}, __ATOMIC_SEQ_CST);
}

// This is done while the agent is disarmed, too, as a thread may still be in a firing. A forked child has no steady memory.
[[gnu::always_inline]] inline void note_taking(const Site& site, const uint64_t* saved) {
  if (site.taking == Taking::nothing || load(armed_page(site.context).pid) == 0) return;
  if (site.taking >= Taking::starts) return note_start(site, saved);
  const MemoryCall call = call_at(site, saved);
  const TakenMemory taken = memory_taken(call);
  site.taking == Taking::ends ? end_taking(site, taken, saved[kStackWord])
                              : begin_taking(site, call.number, taken, saved[kStackWord]);
}

}  // namespace dvm::runtime::inside
