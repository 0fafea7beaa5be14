#pragma once
// Getters of the built-in variables: one function var_<name> for each row of variables.def whose family is not none. It is in the
// file of its family or, for a plain member of the firing, made from fields.def. All engines call the same getters. Probe
// context.

#include <cstdint>

#include "vm/state/state.h"

namespace dvm::vm {

// index is 0 for a scalar. Strings are addresses of NUL-terminated names that live as long as the firing.
using Getter = uint64_t (*)(State& state, uint64_t index) noexcept;

#define DVM_VARIABLE(id, name, ...) uint64_t var_##name(State& state, uint64_t index) noexcept;
#include "vm/dif/variables.def"

// Null for ids without a getter.
Getter getter_of(unsigned id);
// The position in kBuiltIns; kBuiltIns.size() if no built-in variable has the id.
unsigned built_in_position(unsigned id);

}  // namespace dvm::vm
