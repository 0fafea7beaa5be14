// Making, starting and ending the state of a firing. Covered by tests/unit/vm/state_test.cpp.

#include "vm/state/state.h"

namespace dvm::vm {

MachineState::Impl::Impl(VariableState::Impl& variable_state, const StateLimits& limits, std::span<const dif::Variable> declared)
    : variables(variable_state), locals(declared, dif::Scope::clause, variable_state.strsize, true), scratch(limits.scratch) {
  strtok.text.resize(variable_state.strsize);
}

MachineState::MachineState(VariableState& variables, const StateLimits& limits)
    : impl_(std::make_unique<Impl>(variables.impl(), limits, variables.impl().declared)) {}
MachineState::~MachineState() = default;

void MachineState::begin_firing(const Firing& firing, Host& host) noexcept {
  impl_->firing = &firing;
  impl_->host = &host;
  impl_->locals.reset();
  impl_->strtok.active = false;
  impl_->wrote_target = false;
  begin_clause(firing.epid);
}

void MachineState::begin_clause(uint32_t epid) noexcept {
  impl_->epid = epid;
  impl_->fault = {};
  impl_->scratch.reset();
}

const FaultState& MachineState::fault() const noexcept { return impl_->fault; }

void MachineState::set_fault(dif::Fault id, uint64_t value) noexcept { impl_->set_fault(id, value); }

}  // namespace dvm::vm
