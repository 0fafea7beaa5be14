#pragma once
// How aggregations grew in a run: snapshots added up into slices of time, at most kMostSlices.

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "runtime/consumer/metrics.h"

namespace dvm::view {

inline constexpr size_t kMostSlices = 400;  // when there are more, neighbours become one

class History {
 public:
  void add(const runtime::Snapshot& snapshot);

  // {"times": [...], "series": {NAME: [...]}, "heat": {NAME: {"bounds": [...], "cells": [[...], ...]}}}. The times are the ends
  // of slices in ns since the first snapshot. A series has its growth in each slice. Bounds are the largest values of buckets,
  // null for the last. Cells have the number of values in each bucket, by slice. Extremes have neither series nor heat.
  nlohmann::json json() const;

 private:
  struct Series {
    double before = 0;
    double normal = 1;           // the last divisor of normalize()
    std::vector<double> growth;  // by slice
    std::set<int64_t> bounds;    // of all buckets that it has had
    std::map<int64_t, uint64_t> buckets_before;
    std::vector<std::map<int64_t, uint64_t>> cells;  // by slice, then by the largest value in the bucket
  };

  void add(const runtime::Metric& metric);
  bool is_soon(uint64_t time) const;
  void halve();

  uint64_t begin_ = 0;           // time of the first snapshot
  std::vector<uint64_t> times_;  // of the others
  std::map<std::string, Series> series_;
};

}  // namespace dvm::view
