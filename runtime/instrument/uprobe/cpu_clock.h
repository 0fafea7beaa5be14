#pragma once
// The CPU time of a thread, as CLOCK_THREAD_CPUTIME_ID has it, without a call into the scheduler. The kernel adds up a thread's
// time only when it reads the clock for other purposes, at the latest at a tick; in between, the thread's time is
//
//   sum_exec_runtime + (clock_task + (clock now - clock) - exec_start)
//
// clock and clock_task are the run queue's: the scheduler's clock as last read, with and without the time of interrupts and the
// hypervisor. BPF can read all of them but "clock now". It can read CLOCK_MONOTONIC, which differs from the scheduler's
// clock by an offset that changes slowly (the one is corrected by NTP, the other is not). So the capture program writes
//
//   sum_exec_runtime - exec_start + clock_task - clock + monotonic now
//
// and whoever reads the record adds the offset, measured shortly before or after.

#include <array>
#include <cstdint>
#include <memory>

#include "dvm/common/result.h"
#include "runtime/instrument/uprobe/kernel.h"
#include "runtime/instrument/uprobe/ring.h"

namespace dvm::runtime {

// From the kernel's BTF.
Result<TaskLayout> read_task_layout();

// Measures the offset from CLOCK_MONOTONIC to the scheduler's clock.
class SchedulerClock {
 public:
  static Result<std::unique_ptr<SchedulerClock>> make();

  const TaskLayout& layout() const { return layout_; }
  // Measured anew when the last time is some ms ago.
  int64_t offset() noexcept;

 private:
  struct Reading {
    uint64_t monotonic = 0, clock = 0;
  };
  // The run queue's clock as it was last looked at, and the time now.
  Reading read() noexcept;
  int64_t measure() noexcept;

  TaskLayout layout_;
  FileDescriptor program_, map_;
  Mapping reading_;
  int64_t offset_ = 0;
  uint64_t measured_at_ = 0;
};

// The offset of one measurement differs from that of the next by some hundred ns, which could let a thread's time go back. Keeps
// the latest time of each thread, as far as there is room: threads that share a place forget each other.
class ThreadTimes {
 public:
  uint64_t advance(int32_t tid, uint64_t time) noexcept {
    ThreadTime& entry = entries_[static_cast<uint32_t>(tid) % entries_.size()];
    if (entry.tid != tid) entry = {tid, 0};
    if (time > entry.time) entry.time = time;
    return entry.time;
  }

 private:
  struct ThreadTime {
    int32_t tid = 0;
    uint64_t time = 0;
  };
  std::array<ThreadTime, 1024> entries_{};
};

}  // namespace dvm::runtime
