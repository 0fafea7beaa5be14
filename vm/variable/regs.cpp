// Registers and stack of the traced thread. Covered by tests/conformance/variable.

#include "dvm/dif/register.h"
#include "vm/variable/getter.h"

namespace dvm::vm {

uint64_t var_uregs(State& state, uint64_t index) noexcept {
  const auto saved = dif::saved_register(index);
  if (saved && state.firing->registers.has(*saved)) return state.firing->registers[*saved];
  state.set_fault(dif::Fault::illop);
  return 0;
}

uint64_t var_ustackdepth(State& state, uint64_t) noexcept { return state.firing->user_stack().size(); }
uint64_t var_ucaller(State& state, uint64_t) noexcept {
  const std::span<const uint64_t> stack = state.firing->user_stack();
  return stack.size() > 1 ? stack[1] : 0;
}

}  // namespace dvm::vm
