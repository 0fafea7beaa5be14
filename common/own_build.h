#pragma once
// Which build of the program this is.

#include <string>

namespace dvm {

// The GNU build id of the running program, in hexadecimal. Empty: it was linked without one.
std::string own_build_id();

}  // namespace dvm
