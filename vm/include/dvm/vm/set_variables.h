#pragma once
// Variables that code outside of this VM has computed, for a clause that goes on here.

#include <cstdint>
#include <span>

#include "dvm/dif/opcode.h"
#include "dvm/vm/state.h"

namespace dvm::vm {

// An integer variable of a thread or of a clause.
struct VariableValue {
  dif::Scope scope = dif::Scope::thread;
  uint16_t id = 0;
  uint64_t value = 0;
};

// Sets the variables of the firing that begin_firing() was given, and of its thread. Probe context.
void set_variables(MachineState& state, std::span<const VariableValue> values) noexcept;
// Frees the thread-local ones of them.
void clear_variables(MachineState& state, std::span<const VariableValue> values) noexcept;

}  // namespace dvm::vm
