// Tested by tests/unit/vm/state_test.cpp.

#include "dvm/vm/set_variables.h"

#include <utility>

#include "vm/state/variable_access.h"

namespace dvm::vm {

void set_variables(MachineState& state, std::span<VariableValue> values) noexcept {
  State& its = state.impl();
  for (VariableValue& one : values) {
    if (one.is_text && one.value != 0)
      store_text(its, one.id, one.text);
    else if (one.scope == dif::Scope::thread)
      store_dynamic(its, one.id, true, false, one.value);
    else if (one.scope == dif::Scope::global)
      store_scalar(its, its.variables.globals, one.id, std::exchange(one.value, load_scalar(its, its.variables.globals, one.id)));
    else
      store_scalar(its, its.locals, one.id, one.value);
  }
}

void clear_variables(MachineState& state, std::span<const VariableValue> values) noexcept {
  State& its = state.impl();
  for (const VariableValue& one : values) {
    if (one.scope == dif::Scope::thread) store_dynamic(its, one.id, true, false, 0);
    if (one.scope == dif::Scope::global) store_scalar(its, its.variables.globals, one.id, one.value);
  }
}

}  // namespace dvm::vm
