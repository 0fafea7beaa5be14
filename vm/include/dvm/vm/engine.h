#pragma once
// What executes DIF. An engine turns a VerifiedDifo into a PreparedDifo once, when the ECB is made; running it is a call through
// one pointer. Running is probe context: it does not allocate, lock or throw.

#include <memory>

#include "dvm/vm/cost.h"
#include "dvm/vm/state.h"
#include "dvm/vm/verify.h"

namespace dvm::vm {

class PreparedDifo {
 public:
  using Run = uint64_t (*)(PreparedDifo&, MachineState&) noexcept;

  virtual ~PreparedDifo() = default;
  // The value of the DIFO. After a fault (state.fault().id != none) the value means nothing.
  uint64_t run(MachineState& state) noexcept { return run_(*this, state); }
  // Adds what was executed since the last call, or since preparation, and forgets it. Consumer context.
  virtual void take_counts(Counts& into, InstructionCounts& instructions) = 0;
  void take_counts(Counts& into) {
    InstructionCounts instructions;
    take_counts(into, instructions);
  }
  // Its string table, which stays where it is.
  virtual std::string_view strings() const = 0;

 protected:
  explicit PreparedDifo(Run entry) : run_(entry) {}

 private:
  Run run_;
};

// The interpreter.
std::unique_ptr<PreparedDifo> prepare_interp(VerifiedDifo difo, CostPolicy policy);

}  // namespace dvm::vm
