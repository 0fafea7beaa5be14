#pragma once
// A line of source code.

#include <cstdint>
#include <string>

namespace dvm::runtime {

struct SourcePlace {
  std::string function;
  std::string file;  // as the compiler was given it, perhaps with the folder where it ran; empty: unknown
  int32_t line = 0;  // 0: unknown
};

}  // namespace dvm::runtime
