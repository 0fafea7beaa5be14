#pragma once
// Decides how often dvm polls for firings. A wake-up costs tens of microseconds, even if the poll finds nothing, so dvm sleeps as
// long as exit() may be late. It sleeps less if firings would otherwise leave the CPU's caches, or overflow their ring.

#include <algorithm>
#include <cstdint>

namespace dvm::runtime {

// Time between two polls in ns, and between two polls with destructive clauses or late reads.
inline constexpr double kLongestWait = 4e6, kShortestWait = 1e6;
// The target is the number of bytes that a poll should find in the ring: kWantedBytes, but at most the fraction kWantedPart of
// the ring, because the rate may rise at any moment.
inline constexpr double kWantedBytes = 65536;
inline constexpr double kWantedPart = 1.0 / 16;

// ns by which a tick may be late, so that earlier firings are handled first.
inline constexpr uint64_t kMostLate = 10'000'000;
// Firings that are handled between two checks of the clock.
inline constexpr uint64_t kFiringsOfAPart = 4096;

inline constexpr double kTooMuch = 8;  // at this multiple of the target, dvm polls again without sleeping

// The target for a ring of this size, in bytes.
inline double wanted_bytes(double ring) { return std::min(kWantedBytes, ring * kWantedPart); }

// ns between two polls. wanted: the bytes that arrive in `ns`, as a fraction of the target.
inline double wait_for(double wanted, double ns, double longest = kLongestWait) {
  return wanted > 0 ? std::clamp(ns / wanted, kShortestWait, longest) : longest;
}

// ns until the next poll. found: the bytes of the last poll, as a fraction of the target. ns: between the last two polls. waited:
// the wait before the last poll. The result is at most twice that wait, because a burst may follow a pause.
inline double wait_after(double found, double ns, double waited, double longest = kLongestWait) {
  return found > kTooMuch ? 0 : std::min(wait_for(found, ns, longest), std::max(2 * waited, kShortestWait));
}

}  // namespace dvm::runtime
