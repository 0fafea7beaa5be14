// arg0 to arg9, args[] and goid. Covered by tests/conformance/variable.

#include "vm/variable/getter.h"

namespace dvm::vm {

// Arguments that no probe has read as 0.
uint64_t var_args(State& state, uint64_t index) noexcept {
  constexpr uint64_t kArguments = 10;
  return index < kArguments ? state.firing->args[index] : 0;
}

#define DVM_ARGUMENT(n) \
  uint64_t var_arg##n(State& state, uint64_t) noexcept { return state.firing->args[n]; }
DVM_ARGUMENT(0)
DVM_ARGUMENT(1)
DVM_ARGUMENT(2)
DVM_ARGUMENT(3)
DVM_ARGUMENT(4)
DVM_ARGUMENT(5)
DVM_ARGUMENT(6)
DVM_ARGUMENT(7)
DVM_ARGUMENT(8)
DVM_ARGUMENT(9)
#undef DVM_ARGUMENT

uint64_t var_goid(State& state, uint64_t) noexcept { return state.firing->args[10]; }

}  // namespace dvm::vm
