#pragma once
// The counts of a run. Engines count, the model prices: no engine knows a cycle. The policy is chosen when the ECB is made. It is
// a template parameter of the engine, so a run without accounting pays nothing.
//   none    count nothing
//   blocks  count the runs of each basic block; the counts of every opcode, variable and subroutine follow
//   time    read the cycle counter around each instruction, less the cost of reading it; far slower, for profiles and samples

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

// The cost of read_ticks() in a row of readings, measured now.
int64_t calibrate_ticks() noexcept;

enum class CostPolicy : uint8_t { none, blocks, time };

// The counters of one instruction.
struct OpCost {
  uint64_t executed = 0;  // blocks: times a conditional branch was taken; time: executions
  uint64_t units = 0;
  int64_t ticks = 0;
  uint64_t faults = 0;
};

// Executions and TSC ticks of one row of a table. Ticks are 0 unless a run was timed; `timed` is the number of executions whose
// ticks were added, so ticks / timed is the measured mean. `units` is what the price n of the row is multiplied by, in the unit
// of the row's dif::CostClass: mostly bytes that were moved.
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

// Tallies by row. A call also counts for its subroutine, and a load of a built-in for its variable; their ticks are there and not
// with the opcode, as in the cost model. `opcodes` counts every instruction, `elsewhere` those that another row prices: a
// subroutine, a variable, or the variant of the opcode. The operands of instructions are counted beside them.
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

// How often an instruction was executed; how often it jumped, if it is a conditional branch; its units in all, as of a Tally.
struct InstructionCount {
  uint64_t entered = 0;
  uint64_t taken = 0;
  uint64_t units = 0;

  friend bool operator==(const InstructionCount&, const InstructionCount&) = default;
};

// By instruction of a DIFO.
using InstructionCounts = std::vector<InstructionCount>;

void add_instructions(InstructionCounts& into, const InstructionCounts& from);

// For each instruction, the mean number of bytes that were pushed by reference and are on the tuple stack when it runs.
std::vector<double> pushed_bytes(const dif::Difo& difo, std::span<const InstructionCount> counts);

}  // namespace dvm::vm
