#pragma once
// The name under which the program speaks: messages begin with "dvm: ", or with "dtrace: " if it was called by that name.

#include <string_view>

namespace dvm {

// Set once, before anything is printed.
inline std::string_view g_program_name = "dvm";

}  // namespace dvm
