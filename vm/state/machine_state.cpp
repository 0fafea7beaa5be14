// Making, starting and ending the state of a firing. Covered by tests/unit/vm/state_test.cpp.

#include "vm/state/state.h"

namespace dvm::vm {

MachineState::Impl::Impl(VariableState::Impl& variable_state, const StateLimits& limits, std::span<const dif::Variable> declared)
    : variables(variable_state),
      locals(declared, dif::Scope::clause, variable_state.strsize, true),
      scratch(limits.scratch, limits.requested, *this) {
  has_locals = locals.table.count != 0;
  strtok.text.resize(variable_state.strsize);
}

MachineState::MachineState(VariableState& variables, const StateLimits& limits)
    : impl_(std::make_unique<Impl>(variables.impl(), limits, variables.impl().declared)), head_(*impl_) {}
MachineState::~MachineState() = default;

void MachineState::reset_locals() noexcept { impl_->locals.reset(); }

}  // namespace dvm::vm
