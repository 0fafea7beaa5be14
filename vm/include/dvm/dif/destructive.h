#pragma once
// Actions and subroutines that change the traced process or the machine. They need option destructive.

#include <string_view>

#include "dvm/dif/program.h"

namespace dvm::dif {

// The name of the first destructive action or subroutine of the clause; empty: there is none.
std::string_view destructive_part(const EcbDesc& clause);

}  // namespace dvm::dif
