#pragma once
// Metrics: the values of aggregations and dvm's own figures, with labels, independent of the export format. A snapshot is
// immutable, so any thread may read it.

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace dvm::runtime {

enum class MetricKind : uint8_t {
  counter,    // never decreases
  sum,        // may decrease; values can be added
  gauge,      // values cannot be added
  summary,    // a total and the number of values in it
  histogram,  // numbers of values by range
};

using Number = std::variant<int64_t, uint64_t, double>;
double as_double(const Number& number);

struct Point {
  std::shared_ptr<const std::vector<std::string>> labels;  // UTF-8; null: there are none
  Number value;                                            // of a summary: the total
  uint64_t count = 0;                                      // values in a summary or a histogram
  std::vector<uint64_t> buckets;                           // of a histogram: one for each bound, and one for larger values
};

// The sum over all keys of an aggregation, including keys without a point.
struct MetricTotal {
  double value = 0;               // of a counter or a sum; of a summary and a histogram the number of values
  std::vector<int64_t> bounds;    // of a histogram, as in a metric
  std::vector<uint64_t> buckets;  // one more than bounds
};

struct Metric {
  std::string name;  // words joined by "_"
  std::string help;
  MetricKind kind = MetricKind::gauge;
  std::vector<std::string> labels;  // their names
  std::vector<int64_t> bounds;      // of a histogram: the largest value of each bucket, ascending
  bool is_quantize = false;         // a histogram whose buckets are those of quantize()
  uint64_t since = 0;               // walltimestamp from which values are counted
  std::vector<Point> points;
  MetricTotal total;
  int64_t normal = 1;           // the divisor of normalize(); drawings divide values by it, exporters do not
  bool is_aggregation = false;  // false: a figure of dvm itself
};

struct Snapshot {
  uint64_t time = 0;  // walltimestamp
  std::vector<Metric> metrics;
};

// Make a metric without labels; make one with labels and without points; add a point.
Metric plain_metric(std::string name, std::string help, MetricKind kind, Number value);
Metric labelled_metric(std::string name, std::string help, MetricKind kind, std::vector<std::string> labels);
void add_point(Metric& metric, std::vector<std::string> labels, Number value);

// A number divided by the divisor of normalize(), rounded as by the consumer.
Number normalized(const Number& number, int64_t normal);

struct SnapshotParts {
  bool totals = true;  // of aggregations
  bool points = true;  // a point for each key
  bool is_last = false;
};

// Receives snapshots while tracing. The consumer calls it between two polls, so publish() must not block.
class Exporter {
 public:
  virtual ~Exporter() = default;
  // The parts of snapshots that it needs while tracing. The last snapshot has all of them.
  virtual SnapshotParts wanted() const { return {}; }
  virtual void publish(Snapshot snapshot) = 0;
  // Tracing has ended. The run prints its results next; the last snapshot follows after that.
  virtual void end() {}
};

}  // namespace dvm::runtime
