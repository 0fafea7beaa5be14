#pragma once
// What a live firing takes to have its clauses' needs captured (runtime/instrument/capture.h), a part of its stage 2: rows of
// captures.def. Firings of a recording have it behind them.

#include "runtime/cost/prices.h"
#include "runtime/instrument/capture.h"

namespace dvm::runtime {

struct CaptureCost {
  vm::Cost thread, dvm;
};

// Strings and stacks are as long as is expected. stack_bytes of the needs: what the option ustackunwind and the code come to.
CaptureCost capture_cost(Prices& prices, const CaptureNeeds& needs);

// Of a firing, in the ring; strings have so many.
double ring_bytes(const CaptureNeeds& needs, double string);

}  // namespace dvm::runtime
