#pragma once
// How often dvm polls for firings. A wake-up costs tens of microseconds, whatever the poll finds, so dvm sleeps as long as exit()
// may be late. It sleeps less if firings would leave the CPU's caches, or overflow their ring, by then.

#include <algorithm>
#include <cstdint>

namespace dvm::runtime {

// Time between two polls in ns, and between two polls with destructive clauses or late reads.
inline constexpr double kLongestWait = 4e6, kShortestWait = 1e6;
// The target: firings of so many bytes in the ring at a poll, but no larger part of it, since the rate may rise at any moment.
inline constexpr double kWantedBytes = 65536;
inline constexpr double kWantedPart = 1.0 / 16;

// ns that a tick may be late so that what fired before it is handled first.
inline constexpr uint64_t kMostLate = 10'000'000;
// Firings that are handled between two looks at the clock.
inline constexpr uint64_t kFiringsOfAPart = 4096;

inline constexpr double kTooMuch = 8;  // times the target: dvm polls again without sleep

// Bytes that should wait in a ring of this size.
inline double wanted_bytes(double ring) { return std::min(kWantedBytes, ring * kWantedPart); }

// ns between two polls. wanted: what comes in `ns`, as a fraction of the target.
inline double wait_for(double wanted, double ns, double longest = kLongestWait) {
  return wanted > 0 ? std::clamp(ns / wanted, kShortestWait, longest) : longest;
}

// ns until the next poll. found: by the last poll, as a fraction of the target. ns: between the last two polls. waited: the wait
// before the last poll. At most twice that wait, since a burst may follow a moment without firings.
inline double wait_after(double found, double ns, double waited, double longest = kLongestWait) {
  return found > kTooMuch ? 0 : std::min(wait_for(found, ns, longest), std::max(2 * waited, kShortestWait));
}

}  // namespace dvm::runtime
