#pragma once
// Cost policies of the interpreter. Each is a template parameter, so a policy pays only for what it counts.
//
// CountBlocks: DIF never branches back, so the executions of a block are the sum of those that enter it. It is enough to count
// runs, taken conditional branches and faults; take_counts() adds up the flow in the order of the text.

namespace dvm::vm {

struct NoCost {
  static constexpr bool kCounts = false;
  static constexpr bool kTimes = false;
};

struct CountBlocks {
  static constexpr bool kCounts = true;
  static constexpr bool kTimes = false;
};

// Reads the clock once per instruction. The ticks of an instruction are the time since the previous reading, dispatch included,
// less the cost of one reading.
struct TimeOps {
  static constexpr bool kCounts = true;
  static constexpr bool kTimes = true;
};

}  // namespace dvm::vm
