#pragma once
// Functions that C headers define. D has declarations but no definitions, and dvm needs none of them.

#include <string>
#include <string_view>

namespace dvm::cmd {

// Removes the functions that included files define from the output of cpp. Lines keep their numbers.
std::string drop_functions(std::string text);

}  // namespace dvm::cmd
