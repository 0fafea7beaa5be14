// speculation(). Covered by tests/conformance/subr.

#include "vm/subr/subr.h"

namespace dvm::vm {

uint64_t subr_speculation(State& state) noexcept { return state.host->speculation(); }

}  // namespace dvm::vm
