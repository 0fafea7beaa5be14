// Registers and stack of the traced thread. Covered by tests/conformance/variable.

#include "vm/variable/getter.h"

namespace dvm::vm {

uint64_t var_uregs(State& state, uint64_t index) noexcept {
  uint64_t value = 0;
  if (!state.host->user_register(index, value)) state.set_fault(dif::Fault::illop);
  return value;
}

uint64_t var_ustackdepth(State& state, uint64_t) noexcept { return state.firing->stack.size(); }
uint64_t var_ucaller(State& state, uint64_t) noexcept { return state.firing->stack.size() > 1 ? state.firing->stack[1] : 0; }

}  // namespace dvm::vm
