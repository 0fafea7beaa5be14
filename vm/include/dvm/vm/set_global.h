#pragma once
// Sets a global variable from outside of clauses.

#include <cstdint>

#include "dvm/vm/state.h"

namespace dvm::vm {

// The variable is an integer, and the value is converted to its type. Probe context.
void set_global(VariableState& variables, uint16_t id, uint64_t value) noexcept;

}  // namespace dvm::vm
