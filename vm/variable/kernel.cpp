// The state of the kernel at a probe. Our probes fire in processes, where none of the kernel lies above them. Covered by
// tests/conformance/variable.

#include "vm/variable/getter.h"

namespace dvm::vm {

// No interrupt is being served.
uint64_t var_ipl(State&, uint64_t) noexcept { return 0; }
// As stack(), which is empty.
uint64_t var_stackdepth(State&, uint64_t) noexcept { return 0; }
uint64_t var_caller(State&, uint64_t) noexcept { return 0; }

}  // namespace dvm::vm
