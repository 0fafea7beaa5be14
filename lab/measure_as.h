#pragma once
// How this process measures by a profile: at its speed of the core, and on the same CPU by its readings of a quiet one.

#include "dvm/vm/profile.h"

namespace dvm::runtime {

// From here on times are given as at the profile's speed of the core. To be called before anything is measured.
void measure_as(const vm::Profile& profile);

}  // namespace dvm::runtime
