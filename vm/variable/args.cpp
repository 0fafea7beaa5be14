// args[]. Covered by tests/conformance/variable.

#include "vm/variable/getter.h"

namespace dvm::vm {

// Arguments that no probe has read as 0.
uint64_t var_args(State& state, uint64_t index) noexcept {
  constexpr uint64_t kArguments = 10;
  return index < kArguments ? state.firing->args[index] : 0;
}

}  // namespace dvm::vm
