#pragma once
// Text about processes that have continued before probes of files that they had mapped were on. Covered by
// tests/runtime/scenarios/test_loads.py.

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace dvm::runtime {

inline constexpr std::string_view kTooSlow = "dvm was too slow", kLetsNoneWait = "Linux before 6.9 lets no process wait for dvm";

inline std::string late_loads_text(uint64_t count, std::string_view why = kTooSlow) {
  return fmt::format(
      "{}: {} time{} a process has continued before probes of files that it had mapped were enabled; they may have missed "
      "firings",
      why, count, count == 1 ? "" : "s");
}

}  // namespace dvm::runtime
