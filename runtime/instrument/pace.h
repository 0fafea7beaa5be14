#pragma once
// How often dvm looks for firings. Waking up costs tens of microseconds, whatever is found, so dvm sleeps as long as exit() may
// be late. It sleeps less when so many firings come that they would leave the CPU's caches, or overflow their ring, by then.

#include <algorithm>
#include <cstdint>

namespace dvm::runtime {

inline constexpr double kLongestWait = 4e6;      // ns between two looks
inline constexpr double kShortestWait = 1e6;     // also where what clauses read or do should not be late
inline constexpr double kWantedBytes = 65536;    // that wait in the ring when dvm looks, at most
inline constexpr double kWantedPart = 1.0 / 16;  // of it: what fires may come faster from one moment to the next

inline constexpr double kTooMuch = 8;  // times as much as is wanted: it does not sleep at all

// Bytes that should wait in a ring of this size.
inline double wanted_bytes(double ring) { return std::min(kWantedBytes, ring * kWantedPart); }

// ns between two looks, where so much of what is wanted comes in so many ns: 1 is all of it.
inline double wait_for(double wanted, double ns, double longest = kLongestWait) {
  return wanted > 0 ? std::clamp(ns / wanted, kShortestWait, longest) : longest;
}

// ns until the next look, behind one that found so much, so many ns after the last, and was to be waited for so long: never much
// longer than that, since nothing may have come in a moment, and much may come in the next.
inline double wait_after(double found, double ns, double waited, double longest = kLongestWait) {
  return found > kTooMuch ? 0 : std::min(wait_for(found, ns, longest), std::max(2 * waited, kShortestWait));
}

}  // namespace dvm::runtime
