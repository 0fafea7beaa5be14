#pragma once
// How often dvm looks for firings.

#include <cstdint>

namespace dvm::runtime {

inline constexpr uint64_t kBusyWait = 1'000'000;  // ns between polls that found something lately
inline constexpr uint64_t kIdleWait = 4'000'000;  // at the longest, between polls that found nothing: so late is exit() at most

}  // namespace dvm::runtime
