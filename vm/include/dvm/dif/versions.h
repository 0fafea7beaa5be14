#pragma once
// The versions of D that brought names (vm/dif/versions.def).

#include <cstdint>
#include <string_view>

namespace dvm::dif {

// Of a built-in variable, subroutine, action or aggregating function: a number as those of parse_version().
uint32_t introduced_in(std::string_view name);

}  // namespace dvm::dif
