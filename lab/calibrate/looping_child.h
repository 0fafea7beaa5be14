#pragma once
// A forked child that calls one of the callees on request. It ends with its parent.

#include <cstdint>

#include "common/piped_child.h"
#include "lab/noise/quiet_time.h"

namespace dvm::lab {

// Functions by their first instruction, one with a frame, a system call, an ignored signal to itself, a loop that times
// interrupts.
enum class CalleeKind : uint8_t { emulated, stepped, nop, nop5, moved, framed, system_call, signal, loop };

// Where the string of a call is. data: constants of the program. shared: memory that several processes may have.
enum class TextPlace : uint8_t { data, heap, shared };

// The argument of each call is the time (CLOCK_MONOTONIC) if is_stamped, otherwise the address of a string of `letters` letters.
struct CalleeCalls {
  CalleeKind callee = CalleeKind::emulated;
  uint64_t times = 0;    // calls; of the loop: ns
  uint32_t depth = 0;    // functions with frame pointers between; the stack ends before the first
  uint32_t letters = 0;  // at most kMostLetters
  TextPlace text = TextPlace::data;
  bool is_stamped = false;
  uint32_t burst = 0;    // calls that are timed together; 0: some 40 us of them
  bool stays = false;    // the deepest function loops over a burst; otherwise each call goes through all functions
  bool sleeps = false;   // sleeps after each burst to the end of the millisecond
  bool hurries = false;  // does not wait for a quiet core, because another child calls meanwhile
};

inline constexpr uint32_t kMostLetters = 255;
// Frames of a call through others: those, the callee, and the caller of the first.
constexpr uint32_t frames_of(const CalleeCalls& calls) { return calls.depth + 2; }

// Its answer is the CPU time of a call in ns; of the loop, the time that an interrupt takes.
using LoopingChild = AnsweringChild<CalleeCalls, noise::QuietSample>;
Result<LoopingChild> start_looping_child();

Result<uint64_t> offset_of(CalleeKind callee);  // in the file, of the probed instruction
uint64_t size_of_framed();

}  // namespace dvm::lab
