#pragma once
// The code that runs inside traced processes (inside/fire.cpp), ready to be copied there. It begins with inside::CodeEntries.

#include <cstddef>
#include <span>

namespace dvm::runtime {

std::span<const std::byte> inside_code();

}  // namespace dvm::runtime
