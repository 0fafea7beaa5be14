#pragma once
// Speculations: records that wait to be committed to the principal buffer or discarded. Each of nspec speculations has a buffer
// of specsize bytes on each CPU.
//
//   inactive ── speculation() ──> active ── speculate() ──> one (CPU) ── speculate() on another ──> many
//      ^                                                     │                                       │
//      ├── commit(), discard() on that CPU ──────────────────┤                                       │
//      │                              on another, and of many ──> committing, discarding <───────────┘
//      └── clean(), at cleanrate <──────────────────────────────────────┘
//
// In DTrace and here, commit() and discard() take effect at once for the buffer of the CPU on which they run, and for other CPUs
// when clean() runs. Until then the speculation is busy: it accepts no records, and speculation() does not return it. All
// functions except allocate() and meet() are probe context.

#include <vector>

#include "runtime/buffer/cpu_buffers.h"

namespace dvm::runtime {

class Speculations {
 public:
  // False: there is not enough memory.
  bool allocate(uint32_t count, size_t bytes, unsigned cpus);
  // Makes the buffers of a CPU that has none yet. If there is no memory, the CPU uses those of CPU 0. Consumer context.
  void meet(int32_t cpu);

  // Allocates a speculation and returns its id, from 1. 0: all are in use, which is counted as a failure.
  uint32_t open() noexcept;
  // True for valid ids, and for 0, which is no speculation.
  bool has(uint64_t id) const noexcept { return id <= states_.size(); }
  // True if a record may be added on this CPU. id: one for which has() is true.
  bool enter(uint64_t id, int32_t cpu) noexcept;
  // Adds a record, after enter(), or counts a drop.
  void add(uint64_t id, int32_t cpu, std::span<const std::byte> record) noexcept;
  // Moves the records to the principal buffer, with new numbers: their place in the order is that of the commit.
  void commit(uint64_t id, int32_t cpu, CpuBuffers& to, RecordOrder& order) noexcept;
  void discard(uint64_t id, int32_t cpu) noexcept;
  bool wants_cleaning() const noexcept { return busy_ != 0; }
  void clean(CpuBuffers& to, RecordOrder& order) noexcept;

  uint64_t drops() const noexcept { return drops_; }
  uint64_t failed_busy() const noexcept { return failed_busy_; }
  uint64_t failed_unavailable() const noexcept { return failed_unavailable_; }

 private:
  enum class Phase : uint8_t { inactive, active, one, many, committing, discarding };
  struct Speculation {
    Phase phase = Phase::inactive;
    int32_t cpu = 0;  // of `one`
  };
  struct CpuShare {
    BufferMemory memory;
    std::vector<size_t> used;  // by speculation
  };

  bool make_share(CpuShare& share);
  bool is_busy(const Speculation& state) const { return state.phase == Phase::committing || state.phase == Phase::discarding; }
  bool is_only_on(const Speculation& state, int32_t cpu) const {
    return state.phase == Phase::active || (state.phase == Phase::one && state.cpu == cpu);
  }
  size_t& used(size_t index, int32_t cpu) noexcept { return shares_[static_cast<size_t>(cpu)].used[index]; }
  std::byte* memory(size_t index, int32_t cpu) noexcept {
    return shares_[static_cast<size_t>(cpu)].memory.get() + index * bytes_;
  }
  bool has_share(int32_t cpu) const noexcept {
    return static_cast<uint32_t>(cpu) < shares_.size() && shares_[static_cast<uint32_t>(cpu)].memory != nullptr;
  }
  int32_t share_of(int32_t cpu) const noexcept { return has_share(cpu) ? cpu : 0; }
  void move_to_principal(size_t index, int32_t cpu, PrincipalBuffer& to, RecordOrder& order) noexcept;
  void end(Speculation& state, Phase unfinished, bool is_finished) noexcept;

  size_t bytes_ = 0;
  std::vector<Speculation> states_;
  std::vector<CpuShare> shares_;  // by CPU; memory is null for a CPU without a share
  size_t made_ = 0;
  size_t busy_ = 0;  // number of busy speculations
  uint64_t drops_ = 0, failed_busy_ = 0, failed_unavailable_ = 0;
};

}  // namespace dvm::runtime
