#pragma once
// The name by which a process's program was started. It may be a link's name, which is the one that its user knows.

#include <cstdint>
#include <string>

namespace dvm::runtime {

// The base name of the path that execve(2) was given, if it still leads to the program; else empty.
std::string started_as(int32_t pid);

}  // namespace dvm::runtime
