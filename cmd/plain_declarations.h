#pragma once
// C headers as D can read them. D has declarations but no definitions of functions, and dvm needs no functions at all.

#include <string>
#include <string_view>

namespace dvm::cmd {

// Removes functions, static assertions and initialised tables of included files from the output of cpp. Lines keep their numbers.
std::string plain_declarations(std::string text);

}  // namespace dvm::cmd
