#pragma once
// The name by which the program of a process was started. It may be the name of a link, which is the one that the user knows.

#include <cstdint>
#include <string>

namespace dvm::runtime {

// The base name of the path passed to execve(2), if it still leads to the program; otherwise empty.
std::string started_as(int32_t pid);
// The base name of the script (a file that begins with "#!") that the program was started to run; otherwise empty.
std::string script_of(int32_t pid);

}  // namespace dvm::runtime
