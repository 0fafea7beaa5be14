#pragma once
// Turns the OpCosts of instructions into tallies by row. Consumer context.

#include <span>

#include "dvm/dif/difo.h"
#include "dvm/vm/cost.h"

namespace dvm::vm {

// True if an opcode can count units. The getters of built-in variables count none.
constexpr bool has_units(const dif::OpcodeInfo& row) {
  const dif::CostClass cost = row.cost;
  return cost == dif::CostClass::bytes || cost == dif::CostClass::found || cost == dif::CostClass::stored ||
         (cost == dif::CostClass::called && row.format == dif::Format::call);
}

// Add the counts of a DIFO to `into`. They return the counts of each instruction.
InstructionCounts tally_blocks(const dif::Difo& difo, std::span<const OpCost> costs, uint64_t runs, Counts& into);
InstructionCounts tally_timed(const dif::Difo& difo, std::span<const OpCost> costs, Counts& into);

}  // namespace dvm::vm
