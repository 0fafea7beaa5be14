#pragma once
// The texts of -P, -m and -f, in which probe descriptions end with the provider, the module or the function.

#include <cstddef>
#include <string>
#include <string_view>

#include "dvm/common/result.h"

namespace dvm::cmd {

// The text with all fields of the descriptions of its clauses: "libc,libm/arg0/ { ... } ld { ... }" of -m is
// "libc::,libm::/arg0/ { ... } ld:: { ... }". last: the field that descriptions end with, 0: the provider, to 2: the function.
Result<std::string> complete_descriptions(std::string_view text, size_t last);

}  // namespace dvm::cmd
