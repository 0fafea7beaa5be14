#pragma once
// How code uses a global variable: whether threads may run it at the same time, each as if alone.

#include <cstdint>

#include "dvm/dif/difo.h"

namespace dvm::runtime {

bool loads_global(const dif::Difo& difo, uint16_t id);
bool stores_global(const dif::Difo& difo, uint16_t id);

// The DIFO only adds to the variable a value that does not depend on it, or subtracts one, and nothing depends on the sum. The
// order of such changes does not matter.
bool only_adds(const dif::Difo& difo, uint16_t id);

// How often the DIFO looks at the variable or changes it, at most. A change from the value that was read is a single one.
unsigned global_accesses(const dif::Difo& difo, uint16_t id);

}  // namespace dvm::runtime
