#pragma once
// The name at the beginning of messages: "dvm: ", or "dtrace: " if the program was called by that name.

#include <string_view>

namespace dvm {

// Set once, before anything is printed.
inline std::string_view g_program_name = "dvm";

}  // namespace dvm
