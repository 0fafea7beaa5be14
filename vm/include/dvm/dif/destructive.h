#pragma once
// Actions and subroutines that change the traced process or the machine. They need option destructive.

#include <string_view>

#include "dvm/dif/program.h"

namespace dvm::dif {

// The first action or subroutine of the clause that is destructive; empty: there is none.
std::string_view destructive_part(const EcbDesc& clause);

}  // namespace dvm::dif
