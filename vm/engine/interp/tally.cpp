// Covered by tests/unit/vm/cost_test.cpp and the counts of the conformance tests.

#include "vm/engine/interp/tally.h"

#include <algorithm>
#include <vector>

#include "dvm/vm/profile.h"

namespace dvm::vm::interp {

namespace {

using dif::Opcode;

Tally& priced_row(dif::Instruction in, Counts& counts) {
  const DifRow row = row_of(in);
  if (row.table == DifRow::Table::subroutine) return counts.subroutines[row.at];
  if (row.table == DifRow::Table::variable) return counts.variables[row.at];
  return counts.opcodes[row.at];
}

void add(dif::Instruction in, const Tally& tally, Counts& into) {
  Tally& row = priced_row(in, into);
  row += tally;
  Tally& opcode = into.opcodes[in.number()];
  if (&row != &opcode) opcode.count += tally.count;
}

}  // namespace

// The flow through the text: what enters an instruction leaves it by its branch, or goes on to the next one, or faults there.
void tally_blocks(const dif::Difo& difo, std::span<const OpCost> costs, uint64_t runs, Counts& into) {
  std::vector<uint64_t> entering(difo.text.size() + 1);
  entering[0] = runs;
  for (size_t pc = 0; pc < difo.text.size(); pc++) {
    const dif::Instruction in = difo.text[pc];
    const uint64_t count = entering[pc];
    add(in, {count, 0, 0, costs[pc].bytes}, into);
    uint64_t taken = 0;
    if (info(in.opcode()).format == dif::Format::branch) {
      taken = in.opcode() == Opcode::ba ? count : costs[pc].executed;
      entering[in.label()] += taken;
    }
    if (in.opcode() != Opcode::ret) entering[pc + 1] += count - taken - costs[pc].faults;
  }
}

void tally_timed(const dif::Difo& difo, std::span<const OpCost> costs, Counts& into) {
  for (size_t pc = 0; pc < difo.text.size(); pc++) {
    const OpCost& cost = costs[pc];
    const auto ticks = static_cast<uint64_t>(std::max<int64_t>(cost.ticks, 0));
    add(difo.text[pc], {cost.executed, cost.executed, ticks, cost.bytes}, into);
  }
}

}  // namespace dvm::vm::interp
