#pragma once
// From what was written beside the instructions to tallies by row. Consumer context.

#include <span>

#include "dvm/dif/difo.h"
#include "dvm/vm/cost.h"

namespace dvm::vm::interp {

// What each instruction did is what they return.
InstructionCounts tally_blocks(const dif::Difo& difo, std::span<const OpCost> costs, uint64_t runs, Counts& into);
InstructionCounts tally_timed(const dif::Difo& difo, std::span<const OpCost> costs, Counts& into);

}  // namespace dvm::vm::interp
