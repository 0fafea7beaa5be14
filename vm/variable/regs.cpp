// Registers of the traced thread. Covered by tests/conformance/variable.

#include "vm/variable/getter.h"

namespace dvm::vm {

uint64_t var_uregs(State& state, uint64_t index) noexcept {
  uint64_t value = 0;
  if (!state.host->user_register(index, value)) state.set_fault(dif::Fault::illop);
  return value;
}

}  // namespace dvm::vm
