#pragma once
// The versions of D that introduced names (vm/dif/versions.def).

#include <cstdint>
#include <string_view>

namespace dvm::dif {

// The version that introduced a built-in variable, subroutine, action or aggregating function, as a number of parse_version().
uint32_t introduced_in(std::string_view name);

}  // namespace dvm::dif
