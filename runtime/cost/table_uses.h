#pragma once
// The cost of lookups among several keys: entries of aggregations, and dynamic variables (thread-local variables and elements of
// associative arrays). Finding one of many keys in random order costs more than finding the same key again, because the keys do
// not fit into the caches. The rows key/few, key/some, key/many, tuple/few and so on price the difference.

#include <cmath>
#include <span>
#include <vector>

#include "dvm/vm/dynamic_room.h"
#include "runtime/cost/assumptions.h"
#include "runtime/cost/prices.h"

namespace dvm::runtime {

inline constexpr double kFewKeys = 10, kSomeKeys = 1e3;
inline constexpr double kMostKeys = 3e4, kMostTuples = 1e4;  // that fit into the default aggsize and dynvarsize

// Expected number of different keys in `firings`, if all keys are equally likely.
inline double different(double keys, double firings) { return -keys * std::expm1(-firings / keys); }

// The rows of one kind of table, and the number of keys that `many` is measured with.
struct TableRows {
  double most;
  Row few, some, many;
};
inline constexpr TableRows kKeyRows = {kMostKeys, "key/few"_row, "key/some"_row, "key/many"_row};
inline constexpr TableRows kTupleRows = {kMostTuples, "tuple/few"_row, "tuple/some"_row, "tuple/many"_row};

// Lookups by a firing, or by all of a second. Times: extra ones of a lookup, in ns or clocks, for the measured numbers of keys.
struct TableUse {
  double most = kMostKeys;
  double few = 0, some = 0, many = 0;
  double found = 0;  // keys that are looked up

  // Their extra time for any number of keys, interpolated by its logarithm.
  double among(double keys) const {
    const auto between = [&](double a, double from, double b, double to) {
      return found * (a + (b - a) * (std::log(keys / from) / std::log(to / from)));
    };
    if (keys <= 1) return 0;
    if (keys <= kFewKeys) return between(0, 1, few, kFewKeys);
    return keys <= kSomeKeys ? between(few, kFewKeys, some, kSomeKeys) : between(some, kSomeKeys, many, most);
  }
};

struct TableUses {
  TableUse keys, tuples;  // of aggregations; of variables with keys

  void scale(double by) {
    for (TableUse* use : {&keys, &tuples}) use->few *= by, use->some *= by, use->many *= by;
  }
};

double keyed_actions(const dif::EcbDesc& clause);  // aggregating ones

// So many lookups, with the profile's times of such a table in clocks.
TableUse table_use(Prices& prices, const TableRows& rows, double found);

// The lookups at the rates of options.rates, with times in clocks.
TableUses table_uses(std::span<const dif::Program* const> programs, const PredictOptions& options, Prices& prices);

// A dynamic variable that clauses store to.
struct DynamicUse {
  vm::DynamicEntry entry;  // of its largest store; strings have their expected length
  bool is_thread = false;  // each thread has its own
  bool has_keys = false;   // there is one for each key
  double stores = 0;       // per second, at the rates of options.rates; assigning 0 stores nothing
};
std::vector<DynamicUse> dynamic_uses(std::span<const dif::Program* const> programs, const PredictOptions& options);

// True if the number of variables depends on the number of live keys; otherwise it depends on the number of threads.
bool have_keys(std::span<const DynamicUse> uses);
// The number of live keys, or of threads, all of whose variables fit into dynvarsize bytes.
double most_live(std::span<const DynamicUse> uses, double dynvarsize, double threads);

}  // namespace dvm::runtime
