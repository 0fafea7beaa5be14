#pragma once
// Steady memory of a traced process: private memory without a file, such as the heap, that stays mapped and readable until a
// watched system call takes it away. All calls by which that can happen are watched, or no memory is steady. Clauses read it by
// plain loads.
//
//   reader     A restartable sequence (rseq): looks for the address in the table in use, and loads. If its thread is preempted
//              or gets a signal in between, the kernel starts it again. This needs a thread that has registered an rseq area.
//   taker      A thread that makes such a call. Before the call it claims a MemoryTaker, adds a step to `state`, and cuts the
//              memory out of both tables: one that was in use until just now may still have readers. If there was some, or if
//              another thread is about to start the readers again (`restarting`), membarrier(2) does so. They then do not find
//              the memory. Behind the call it frees the MemoryTaker.
//   dvm        Proposes tables. It reads `state`, then the takers, then /proc/PID/maps. Unless `proposed` is still set, it writes
//              the table that is not in use, then `proposed`: that `state`, with the number of the table.
//   adopter    A thread that has missed an address, or begins to take memory. It puts the proposed table in use if `state` has
//              not changed since, by compare and exchange, and adds a step. Then membarrier(2) starts all readers again, and
//              `proposed` is cleared. A proposal that is outdated is only cleared.
//
// All of it lies behind the armed page's words, in memory that a forked child finds empty.

#include <cstdint>

#include "runtime/agent/inside/format.h"

namespace dvm::runtime::inside {

inline constexpr uint64_t kMostSteady = 48, kMostTakers = 40, kMostWanted = 4;

struct SteadyTable {
  uint64_t count = 0;
  MemoryRange ranges[kMostSteady]{};  // whole pages; a taker lowers the end of one, down to its beginning
};

// A system call that takes away memory.
struct MemoryTaker {
  uint64_t thread = 0;         // its thread pointer; 0: free, kTakerClaimed: the rest is not yet written
  uint64_t stack_pointer = 0;  // at the call; one thread may have begun several, in signal handlers
  MemoryRange ranges[2]{};
};
inline constexpr uint64_t kTakerClaimed = 1;

inline constexpr uint64_t kSteadyStep = 4, kTableBits = kSteadyStep - 1;
struct SteadyMemory {
  uint64_t state = 0;              // steps, and in the low bits the number of the table in use, 1 or 2; 0: none
  uint64_t proposed = 0;           // by dvm; 0: nothing
  uint64_t is_off = 0;             // not 0: no memory is steady from now on. Written by dvm, too
  uint64_t misses = 0;             // addresses that readers did not find
  uint64_t wanted[kMostWanted]{};  // the last of these, by the number of the miss
  SteadyTable tables[2];
  MemoryTaker takers[kMostTakers];
  uint64_t unnamed =
      0;  // calls that have begun, and for which there was no MemoryTaker. As long as there are, dvm proposes nothing
  uint64_t restarting = 0;  // threads that have changed a table, and have not yet started all readers again
  uint64_t starting =
      0;  // threads that start a task, or wait for one by vfork(2). Such a task has no rseq area, but seems to have theirs
  uint64_t ended_by = 0;  // 1 + the number of the call by which is_off was set; 0: none
};

constexpr uint64_t steady_at(uint64_t armed_page) { return armed_page + 256; }
static_assert(256 + sizeof(SteadyMemory) <= 4096);

}  // namespace dvm::runtime::inside
