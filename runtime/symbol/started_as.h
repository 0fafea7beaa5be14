#pragma once
// The name by which a process's program was started, which may be that of a link: what its user knows it by.

#include <cstdint>
#include <string>

namespace dvm::runtime {

// The base name of the path that execve(2) was given, if it still leads to the program; else empty.
std::string started_as(int32_t pid);

}  // namespace dvm::runtime
