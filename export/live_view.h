#pragma once
// Aggregations on a terminal while a run goes on: the largest rows of each that fit, with their growth per second.
//
//   12 s  ^C ends                                  how long it has run
//   @bytes = sum()            value       per s      of narrow terminals only the value
//   redis-server            1048576       65536
//   ... 310 more

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/consumer/metrics.h"

namespace dvm::exporting {

struct ScreenSize {
  size_t columns = 80, rows = 24;
};

class LiveView {
 public:
  // Computes the growth of each row since the snapshot before.
  void take(const runtime::Snapshot& snapshot);
  // Lines for a screen of this size, none wider; nothing without a snapshot.
  std::vector<std::string> draw(ScreenSize size) const;

 private:
  struct KeyLine {
    std::string keys;
    double value = 0;
    double count = 0;               // number of values; distributions and means only
    std::optional<double> growth;   // per second; none for extremes, and in the first snapshot
    std::vector<uint64_t> buckets;  // of a distribution
  };
  struct Table {
    std::string title;
    runtime::MetricKind kind{};
    std::vector<KeyLine> rows;  // the largest first
    uint64_t keys = 0;          // all rows, including those that the snapshot leaves out
    uint64_t unnamed = 0;       // rows left out because the names of their addresses are not known yet
  };

  Table table(const runtime::Metric& metric, double seconds);
  static void draw(const Table& table, size_t lines, size_t columns, std::vector<std::string>& into);

  uint64_t began_ = 0, taken_ = 0;  // walltimestamps
  std::vector<Table> tables_;
  std::map<std::string, std::unordered_map<std::string, double>> before_;  // what grows, by aggregation and keys
};

// A character for each of at most `most` groups of neighbouring counts, as high as the group's share of the largest.
std::string sparkline(std::span<const uint64_t> counts, size_t most);

}  // namespace dvm::exporting
