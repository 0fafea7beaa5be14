#pragma once
// Steady memory of a traced process: private anonymous memory, such as the heap, that stays mapped and readable until a watched
// system call takes it away: unmaps, moves or protects it. Clauses read it by plain loads. If one call by which that can happen
// cannot be watched, no memory is steady.
//
//   reader     A thread in a restartable sequence (rseq) that looks for the address in the table in use, and loads. If it is
//              preempted or gets a signal in between, the kernel restarts the sequence. The thread must have registered an rseq
//              area.
//   taker      A thread that makes such a call. Before the call it claims a MemoryTaker, adds a step to `state`, and cuts the
//              memory out of both tables, because the table that was in use until just now may still have readers. If a table had
//              some of the memory, or if another thread is about to restart the readers (`restarting`), it restarts them by
//              membarrier(2). They then do not find the memory. After the call it frees the MemoryTaker.
//   dvm        Proposes tables. It reads `state`, then the takers, then /proc/PID/maps. Unless `proposed` is still set, it writes
//              the table that is not in use. It then sets `proposed` to the value of `state` that it has read, with the number
//              of this table.
//   adopter    A thread that has missed an address, or begins to take memory. If `state` has not changed since the proposal, it
//              puts the proposed table in use and adds a step, by compare and exchange. It then restarts all readers by
//              membarrier(2), and clears `proposed`. An outdated proposal is only cleared.
//
// All of this lies behind the words of the armed page, in memory that a forked child finds empty.

#include <cstdint>

#include "runtime/agent/inside/format.h"

namespace dvm::runtime::inside {

inline constexpr uint64_t kMostSteady = 48, kMostTakers = 40, kMostWanted = 4;

struct SteadyTable {
  uint64_t count = 0;
  MemoryRange ranges[kMostSteady]{};  // whole pages; a taker lowers the end of one, down to its beginning
};

// A system call that takes memory away, from its begin to its end.
struct MemoryTaker {
  uint64_t thread = 0;         // its thread pointer; 0: free, kTakerClaimed: the rest is not yet written
  uint64_t stack_pointer = 0;  // at the call; a thread may have begun several, in signal handlers
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
  // Calls that have begun when no MemoryTaker was free. As long as one lasts, dvm proposes nothing.
  uint64_t unnamed = 0;
  uint64_t restarting = 0;  // threads that have changed a table, and have not yet restarted all readers
  // Threads that start a task, or wait for one by vfork(2). The task has no rseq area, but its thread pointer leads to theirs.
  uint64_t starting = 0;
  uint64_t ended_by = 0;  // 1 + the number of the call by which is_off was set; 0: none
};

constexpr uint64_t steady_at(uint64_t armed_page) { return armed_page + 256; }
static_assert(256 + sizeof(SteadyMemory) <= 4096);

}  // namespace dvm::runtime::inside
