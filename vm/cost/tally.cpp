// Covered by tests/unit/vm/cost_test.cpp and the counts of the conformance tests.

#include "vm/cost/tally.h"

#include <algorithm>
#include <vector>

#include "dvm/vm/operands.h"
#include "dvm/vm/profile.h"

namespace dvm::vm {

namespace {

Tally& priced_row(const DifRow& row, Counts& counts) {
  switch (row.table) {
    case DifRow::Table::subroutine:
      return counts.subroutines[row.at];
    case DifRow::Table::variable:
      return counts.variables[row.at];
    case DifRow::Table::variant:
      return counts.variants[row.at];
    case DifRow::Table::opcode:
      break;
  }
  return counts.opcodes[row.at];
}

// A variant is the same opcode still, so its ticks and bytes are the opcode's too.
void add(const dif::Difo& difo, dif::Instruction in, const Tally& tally, Counts& into) {
  const DifRow row = row_of(difo, in);
  priced_row(row, into) += tally;
  if (row.table == DifRow::Table::opcode) return;
  Tally& opcode = into.opcodes[in.number()];
  into.elsewhere[in.number()] += tally.count;
  if (row.table == DifRow::Table::variant)
    opcode += tally;
  else
    opcode.count += tally.count;
}

void add_operands(dif::Instruction in, const PricedOperands& on, double key, uint64_t count, Counts& into) {
  for (const StringOperand& text : on.strings) into.strings[static_cast<size_t>(text.place)] += count;
  if (!takes_key(in.opcode())) return;
  into.key_values += on.values * count;
  const auto bytes = static_cast<uint64_t>(key * static_cast<double>(count));
  if (!on.references.empty()) into.key_references += {on.references.size() * count, 0, 0, bytes};
}

// Of the instruction behind a branch, what did not jump there from further up is what the branch let pass.
InstructionCounts timed_instructions(const dif::Difo& difo, std::span<const OpCost> costs) {
  InstructionCounts counts(difo.text.size());
  std::vector<uint64_t> jumped(difo.text.size());  // to there, from above
  for (size_t pc = 0; pc < difo.text.size(); pc++) {
    const dif::Instruction in = difo.text[pc];
    counts[pc] = {costs[pc].executed, 0, costs[pc].units};
    if (!is_branch(in)) continue;
    uint64_t taken = costs[pc].executed;
    if (is_conditional(in)) counts[pc].taken = taken -= costs[pc + 1].executed - jumped[pc + 1];
    jumped[in.label()] += taken;
  }
  return counts;
}

}  // namespace

// The flow through the text: what enters an instruction leaves it by its branch, or goes on to the next one, or faults there.
InstructionCounts tally_blocks(const dif::Difo& difo, std::span<const OpCost> costs, uint64_t runs, Counts& into) {
  std::vector<uint64_t> entering(difo.text.size() + 1);
  entering[0] = runs;
  InstructionCounts counts(difo.text.size());
  for (size_t pc = 0; pc < difo.text.size(); pc++) {
    const dif::Instruction in = difo.text[pc];
    const uint64_t count = entering[pc];
    add(difo, in, {count, 0, 0, costs[pc].units}, into);
    uint64_t taken = 0;
    if (is_branch(in)) {
      taken = is_conditional(in) ? costs[pc].executed : count;
      entering[in.label()] += taken;
    }
    counts[pc] = {count, is_conditional(in) ? taken : 0, costs[pc].units};
    if (!is_return(in)) entering[pc + 1] += count - taken - costs[pc].faults;
  }
  const std::vector<PricedOperands> operands = priced_operands(difo);
  const std::vector<double> keys = pushed_bytes(difo, counts);
  for (size_t pc = 0; pc < difo.text.size(); pc++) add_operands(difo.text[pc], operands[pc], keys[pc], counts[pc].entered, into);
  return counts;
}

InstructionCounts tally_timed(const dif::Difo& difo, std::span<const OpCost> costs, Counts& into) {
  for (size_t pc = 0; pc < difo.text.size(); pc++) {
    const OpCost& cost = costs[pc];
    const auto ticks = static_cast<uint64_t>(std::max<int64_t>(cost.ticks, 0));
    add(difo, difo.text[pc], {cost.executed, cost.executed, ticks, cost.units}, into);
  }
  return timed_instructions(difo, costs);
}

}  // namespace dvm::vm
