#pragma once
// A forked child that does one of the stubs as often as it is told. It ends with its parent.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "common/result.h"

namespace dvm::runtime {

// What is done: functions by their first instruction, a system call, a signal to itself that is ignored, and a loop that is timed
// by the clock on the wall, since the CPU time of a thread knows nothing of interrupts.
enum class Stub : uint8_t { emulated, stepped, nop, nop5, moved, system_call, signal, loop };

class LoopingChild {
 public:
  static Result<std::unique_ptr<LoopingChild>> start();
  ~LoopingChild();
  LoopingChild(const LoopingChild&) = delete;
  LoopingChild& operator=(const LoopingChild&) = delete;

  pid_t pid() const { return pid_; }
  // Sends it off; it says when it is done.
  Status call(Stub stub, uint64_t times);
  bool is_done() const;
  // CPU time of a call (of the loop: time), in ns. Waits for it.
  Result<double> finish();

 private:
  LoopingChild() = default;

  pid_t pid_ = -1;
  int to_child_ = -1, from_child_ = -1;
  uint64_t times_ = 0;
};

// Offset in the file of this program of the instruction of a function stub that is probed.
Result<uint64_t> offset_of(Stub stub);

}  // namespace dvm::runtime
