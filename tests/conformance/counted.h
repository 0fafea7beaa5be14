#pragma once
// A prepared object and what its runs count. Several may share the object.

#include <memory>
#include <utility>
#include <vector>

#include "dvm/vm/engine.h"

namespace dvm::vm::test {

class Counted {
 public:
  explicit Counted(std::shared_ptr<const PreparedDifo> difo) : difo_(std::move(difo)), costs_(difo_->cost_count()) {}
  uint64_t run(MachineState& state) noexcept { return difo_->run(state, costs_.data()); }
  void take_counts(Counts& into, InstructionCounts& instructions) { difo_->take_counts(costs_, into, instructions); }
  void take_counts(Counts& into) {
    InstructionCounts instructions;
    take_counts(into, instructions);
  }

 private:
  std::shared_ptr<const PreparedDifo> difo_;
  std::vector<OpCost> costs_;
};

}  // namespace dvm::vm::test
