#pragma once
// The counts of a run. Engines count, and the model prices the counts: engines know no prices. The policy is chosen when the ECB
// is made. It is a template parameter of the engine, so a run without accounting pays nothing.
//   none    counts nothing.
//   blocks  counts the runs of each basic block. The counts of every opcode, variable and subroutine follow from them.
//   time    reads the cycle counter around each instruction, and subtracts the cost of reading. Far slower; for profiles and
//   samples.

#include <x86intrin.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "dvm/dif/opcode.h"
#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"
#include "dvm/vm/operands.h"

namespace dvm::vm {

// The cycle counter, in ticks.
inline uint64_t read_ticks() noexcept { return __rdtsc(); }

// Measures the cost of one read_ticks(), in ticks, in a sequence of readings.
int64_t calibrate_ticks() noexcept;

enum class CostPolicy : uint8_t { none, blocks, time };

// The counters of one instruction.
struct OpCost {
  // Policy blocks: how often a conditional branch was taken. Policy time: executions.
  uint64_t executed = 0;
  uint64_t units = 0;
  int64_t ticks = 0;
  uint64_t faults = 0;
};

// Executions and TSC ticks of one row of a table. `timed` is the number of executions whose ticks were measured, so ticks / timed
// is the mean; both are 0 in a run without timing. `units` is multiplied by the price n of the row. The row's dif::CostClass says
// what a unit is: mostly a byte that was moved.
struct Tally {
  uint64_t count = 0;
  uint64_t timed = 0;
  uint64_t ticks = 0;
  uint64_t units = 0;

  Tally& operator+=(const Tally& o) {
    count += o.count, timed += o.timed, ticks += o.ticks, units += o.units;
    return *this;
  }
};

// Tallies by row. A call also counts for its subroutine, and a load of a built-in variable for that variable. As in the cost
// model, the ticks are added there and not to the opcode. `opcodes` counts every instruction, `elsewhere` those that another row
// prices: a subroutine, a variable, or the variant of the opcode. Operands are counted separately.
struct Counts {
  std::array<Tally, dif::kOpcodeCount + 1> opcodes{};  // by opcode number
  std::array<Tally, dif::kOpcodeCount + 1> variants{};
  std::array<uint64_t, dif::kOpcodeCount + 1> elsewhere{};
  std::array<Tally, dif::kSubroutineCount> subroutines{};
  std::array<Tally, dif::kBuiltIns.size()> variables{};  // by position in kBuiltIns
  std::array<uint64_t, kPlaces.size()> strings{};        // looked up, by place
  uint64_t key_values = 0;                               // keys of variables that were looked up
  Tally key_references;

  Counts& operator+=(const Counts& o);
};

// The counts of one instruction.
struct InstructionCount {
  uint64_t entered = 0;  // executions
  uint64_t taken = 0;    // of a conditional branch: how often it jumped
  uint64_t units = 0;    // in total, as in a Tally

  friend bool operator==(const InstructionCount&, const InstructionCount&) = default;
};

// By instruction of a DIFO.
using InstructionCounts = std::vector<InstructionCount>;

void add_instructions(InstructionCounts& into, const InstructionCounts& from);

// For each instruction: the mean number of bytes of references on the tuple stack when it runs.
std::vector<double> pushed_bytes(const dif::Difo& difo, std::span<const InstructionCount> counts);

}  // namespace dvm::vm
