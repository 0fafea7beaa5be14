#pragma once
// A line of source code.

#include <cstdint>
#include <string>

namespace dvm::runtime {

struct SourcePlace {
  std::string function;
  std::string file;  // the name given to the compiler, perhaps with the compiler's working directory; empty: unknown
  int32_t line = 0;  // 0: unknown
};

}  // namespace dvm::runtime
