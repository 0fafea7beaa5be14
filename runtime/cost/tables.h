#pragma once
// Tables with several keys: those of an aggregation, and those of variables with keys. What finding the same key again takes is
// in other rows. Of keys in no order the processor cannot foretell which comes next, and among many it waits for memory, more the
// more there are; and dvm rests between its looks for firings for as long as others need to fill the caches, so that the first
// firing of a look to find a key waits longer, but not those that follow it:
//
//   a look = firings * among(keys) + different(keys, firings) * first(keys)
//
//   row     measured with
//   few     ten keys in no order, without a rest, and a single one: what it takes more
//   some    a thousand, likewise
//   many    as many as `most` says, likewise
//   first   a thousand, behind a rest: what it takes more than without, by the keys that are found for the first time
//   far     the same with as many as for `many`

#include <algorithm>
#include <cmath>

namespace dvm::runtime {

inline constexpr double kFewKeys = 10, kSomeKeys = 1e3;
inline constexpr double kMostKeys = 3e4, kMostTuples = 1e4;  // in aggsize and dynvarsize, if nobody has set them

// So many different ones of the keys, each as likely as another, are among so many firings.
inline double different(double keys, double firings) { return -keys * std::expm1(-firings / keys); }

// Of one key, in ns or in clocks.
struct TableTimes {
  double most = kMostKeys;
  double few = 0, some = 0, many = 0, first = 0, far = 0;

  void scale(double by) { few *= by, some *= by, many *= by, first *= by, far *= by; }
  double among(double keys) const {
    if (keys <= 1) return 0;
    if (keys <= kFewKeys) return few * part(1, keys, kFewKeys);
    if (keys <= kSomeKeys) return few + (some - few) * part(kFewKeys, keys, kSomeKeys);
    return some + (many - some) * part(kSomeKeys, keys, most);
  }
  double first_among(double keys) const { return first + (far - first) * std::clamp(part(kSomeKeys, keys, most), 0.0, 1.0); }

 private:
  // Of the way from some keys to others, by their logarithms.
  static double part(double from, double keys, double to) { return std::log(keys / from) / std::log(to / from); }
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
