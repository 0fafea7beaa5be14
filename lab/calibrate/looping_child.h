#pragma once
// A forked child that does one of the stubs as often as it is told. It ends with its parent.

#include <cstdint>
#include <memory>

#include "common/piped_child.h"
#include "lab/noise/quiet_time.h"

namespace dvm::lab {

// What is done: functions by their first instruction, a system call, a signal to itself that is ignored, and a loop that watches
// the clock for interrupts.
enum class Stub : uint8_t { emulated, stepped, nop, nop5, moved, system_call, signal, loop };

// The argument of each call: the time (CLOCK_MONOTONIC), if is_stamped, else the address of a string of so many letters.
struct StubCalls {
  Stub stub = Stub::emulated;
  uint64_t times = 0;    // of the loop: how many ns it takes
  uint32_t depth = 0;    // functions with frame pointers that it is called through; such a stack ends before the first of them
  uint32_t letters = 0;  // at most kMostLetters
  bool is_stamped = false;
  uint32_t burst = 0;    // calls that are timed together; 0: some 40 us of them
  bool rests = false;    // after each burst to the end of the millisecond
  bool hurries = false;  // it waits for no quiet core, since another one calls meanwhile
};

inline constexpr uint32_t kMostLetters = 255;
// Frames of a call through others: those, the stub and what has called the first.
constexpr uint32_t frames_of(const StubCalls& calls) { return calls.depth + 2; }

class LoopingChild {
 public:
  static Result<std::unique_ptr<LoopingChild>> start();

  pid_t pid() const { return child_.pid(); }
  // Sends it off; it says when it is done.
  Status call(const StubCalls& calls) { return child_.tell(calls); }
  bool is_done() const { return child_.is_done(); }
  // CPU time of a call, in ns; of the loop: the time that an interrupt takes of it. Waits for it.
  Result<noise::QuietSample> finish() { return child_.finish(); }

 private:
  using Child = AnsweringChild<StubCalls, noise::QuietSample>;
  explicit LoopingChild(Child child) : child_(std::move(child)) {}

  Child child_;
};

// Offset in the file of this program of the instruction of a function stub that is probed.
Result<uint64_t> offset_of(Stub stub);

}  // namespace dvm::lab
