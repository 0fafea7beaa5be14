#pragma once
// What a clause does to the process that it traces, or to the machine: it needs option destructive, and is done soon.

#include <string_view>

#include "dvm/dif/program.h"

namespace dvm::dif {

// The first action or subroutine of the clause that is destructive; empty: there is none.
std::string_view destructive_part(const EcbDesc& clause);

}  // namespace dvm::dif
