// Times, as they were at the firing. Covered by tests/conformance/variable.

#include "vm/variable/getter.h"

namespace dvm::vm {

uint64_t var_timestamp(State& state, uint64_t) noexcept { return state.firing->timestamp; }
uint64_t var_vtimestamp(State& state, uint64_t) noexcept { return state.firing->vtimestamp; }
uint64_t var_walltimestamp(State& state, uint64_t) noexcept { return state.firing->walltimestamp; }

}  // namespace dvm::vm
