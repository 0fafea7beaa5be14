#pragma once
// Tables with many keys: those of an aggregation, and those of variables with keys. What finding one of a few keys takes is in
// other rows. Among many it waits for memory, more the more there are; and dvm rests between its looks for firings for as long as
// others need to fill the caches, so that the first firing of a look to find a key waits longer, but not those that follow it:
//
//   a look = firings * among(keys) + different(keys, firings) * first(keys)
//
//   row     measured with
//   many    as many keys as `most` says, in no order, without a rest
//   first   a thousand, behind a rest: what it takes more than without, by the keys that are found for the first time
//   far     the same with as many as for `many`

#include <algorithm>
#include <cmath>

namespace dvm::runtime {

inline constexpr double kSomeKeys = 1e3;                     // whose table is as near as one of ten, without a rest
inline constexpr double kMostKeys = 3e4, kMostTuples = 1e4;  // in aggsize and dynvarsize, if nobody has set them

// So many different ones of the keys, each as likely as another, are among so many firings.
inline double different(double keys, double firings) { return -keys * std::expm1(-firings / keys); }

// Of one key, in ns or in clocks.
struct TableTimes {
  double most = kMostKeys;
  double many = 0, first = 0, far = 0;

  void scale(double by) { many *= by, first *= by, far *= by; }
  double among(double keys) const { return many * std::max(std::log(keys / kSomeKeys) / std::log(most / kSomeKeys), 0.0); }
  double first_among(double keys) const {
    return first + (far - first) * std::clamp(std::log(keys / kSomeKeys) / std::log(most / kSomeKeys), 0.0, 1.0);
  }
};

// By a firing, or by all of a second.
struct TableUse {
  TableTimes times;
  double found = 0;  // keys that are looked up

  double among(double keys) const { return found * times.among(keys); }
  // By so many of them behind a rest.
  double first(double keys, double firings) const {
    return found > 0 ? different(keys, firings * found) * times.first_among(keys) : 0;
  }
};

struct TableUses {
  TableUse keys, tuples;  // of aggregations, of variables with keys

  void scale(double by) { keys.times.scale(by), tuples.times.scale(by); }
};

}  // namespace dvm::runtime
