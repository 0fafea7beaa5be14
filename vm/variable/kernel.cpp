// The state of the kernel at a probe. At a probe in a process none of the kernel lies above it. Covered by
// tests/conformance/variable.

#include "vm/variable/getter.h"

namespace dvm::vm {

// No interrupt is being served.
uint64_t var_ipl(State&, uint64_t) noexcept { return 0; }
uint64_t var_stackdepth(State& state, uint64_t) noexcept { return state.firing->kernel_stack.size(); }
uint64_t var_caller(State& state, uint64_t) noexcept {
  return state.firing->kernel_stack.size() > 1 ? state.firing->kernel_stack[1] : 0;
}

}  // namespace dvm::vm
