#pragma once
// Turns aggregations into metrics. The values of a key become labels. Keys with the same text are one series. Values are not
// normalized, because normalize() would make counters decrease.
//
//   count      counter        min, max, stddev   gauge      avg        summary
//   sum        sum            quantize, lquantize, llquantize          histogram
//
// Option maxseries limits the series of one aggregation. Keys are exported in the order of their arrival, so the same keys are
// exported each time.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "dvm/dif/option.h"
#include "runtime/consumer/aggregation.h"
#include "runtime/consumer/made.h"
#include "runtime/consumer/metrics.h"
#include "runtime/enabling/enabling.h"

namespace dvm::runtime {

// The exported buckets of a distribution: from the one before the first that was ever filled to the last one.
struct ExportedBuckets {
  size_t first = SIZE_MAX, last = 0;
};

// A metric of rows that were read back from a file, in their order, with the labels of each. Numbers are signed. The caller sets
// the names.
Metric metric_of(const MergedAggregation& aggregation, std::span<const MergedRow* const> rows,
                 std::span<const std::shared_ptr<const std::vector<std::string>>> labels);

// The limit on the time to resolve new keys with stacks and symbols for one snapshot. Further keys wait for later snapshots. The
// last snapshot has no limit.
inline constexpr uint64_t kNamingTime = 2'000'000;  // ns

class AggregationMetrics {
 public:
  AggregationMetrics(const dif::Options& options, const Enabling& enabling, const MadePrinter& made)
      : options_(options), enabling_(enabling), made_(made) {}

  // Adds a metric for each aggregation, and metrics for the number of its keys and of those left out.
  void add(Aggregations& aggregations, Snapshot& snapshot, const SnapshotParts& parts);

 private:
  using Labels = std::shared_ptr<const std::vector<std::string>>;
  // The exported form of a key. Keys with the same `own` are one series.
  struct Series {
    Labels labels;
    std::string own;
  };
  // The state that one aggregation keeps from snapshot to snapshot.
  struct Known {
    std::string name;
    std::vector<std::string> labels;
    std::unordered_map<std::string, Series> series;  // by key
    std::vector<int64_t> bounds;                     // of all buckets except the last
    ExportedBuckets buckets;
    uint64_t since = 0;
    uint64_t clears = 0;
  };
  struct LeftOut {
    uint64_t over_limit = 0, negative = 0, unnamed = 0;
  };

  Known& know(const MergedAggregation& aggregation, uint64_t now);
  bool may_name();
  // Null: the key has no names yet, and the time for naming is over.
  const Series* series_of(Known& known, const MergedRow& row);
  LeftOut add_points(Metric& metric, Known& known, const MergedAggregation& aggregation);

  const dif::Options& options_;
  const Enabling& enabling_;
  const MadePrinter& made_;
  std::map<uint32_t, Known> known_;  // by the id of the aggregation
  uint64_t last_ = 0;                // time of the last snapshot
  uint64_t naming_ends_ = 0;         // ns, CLOCK_MONOTONIC; 0: no new key yet
};

}  // namespace dvm::runtime
