#pragma once
// Text about processes that have continued before probes of files that they had mapped were on. Covered by
// tests/runtime/scenarios/test_loads.py.

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace dvm::runtime {

inline std::string late_loads_text(uint64_t count) {
  return fmt::format(
      "dvm was too slow: {} time{} a process has continued before probes of files that it had mapped were enabled; they may have "
      "missed firings",
      count, count == 1 ? "" : "s");
}

}  // namespace dvm::runtime
