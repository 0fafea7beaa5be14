// The variables of one consumer. Covered by tests/unit/vm/state_test.cpp.

#include <algorithm>

#include "vm/state/machine_state.h"

namespace dvm::vm {

VariableState::Impl::Impl(std::span<const dif::Variable> variables, const StateLimits& limits)
    : strsize(limits.strsize),
      declared(variables.begin(), variables.end()),
      globals(variables, dif::Scope::global, limits.strsize, true),
      threads(variables, dif::Scope::thread, limits.strsize, false),
      dynamic(limits.dynvarsize),
      zeros(std::max({globals.largest(), threads.largest(), limits.strsize + 1})) {}

VariableState::VariableState(std::span<const dif::Variable> variables, const StateLimits& limits)
    : impl_(std::make_unique<Impl>(variables, limits)) {}
VariableState::~VariableState() = default;

DynamicDrops VariableState::drops() const { return impl_->dynamic.drops(); }

}  // namespace dvm::vm
