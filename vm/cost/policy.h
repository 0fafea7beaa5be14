#pragma once
// Cost policies of the interpreter: what is done beside the instructions. Each is a template parameter, so what a policy does
// not do costs nothing.
//
// CountBlocks: since DIF never branches back, the executions of a block are the sum of those that enter it. So it is enough to
// count runs, taken conditional branches and faults; take_counts() adds up the flow in the order of the text. A run counts
// itself and its taken branches and nothing else.

#include <cstdint>

#include "dvm/vm/cost.h"

namespace dvm::vm {

// Written beside each instruction while it runs.
struct OpCost {
  uint64_t executed = 0;  // CountBlocks: times a conditional branch was taken; TimeOps: executions
  uint64_t bytes = 0;
  int64_t ticks = 0;
  uint64_t faults = 0;
};

struct NoCost {
  static constexpr bool kCounts = false;
  static constexpr bool kTimes = false;
};

struct CountBlocks {
  static constexpr bool kCounts = true;
  static constexpr bool kTimes = false;
};

// One reading an instruction: its ticks are the time from the one before, dispatch included, the cost of the reading taken off.
struct TimeOps {
  static constexpr bool kCounts = true;
  static constexpr bool kTimes = true;
};

}  // namespace dvm::vm
