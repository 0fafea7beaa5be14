#pragma once
// Aggregations, and what dvm says of itself, as metrics: values with labels, in no format yet. A snapshot does not change once it
// is made, so any thread may read it.

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace dvm::runtime {

enum class MetricKind : uint8_t {
  counter,    // only grows
  sum,        // grows and shrinks, and can be added up
  gauge,      // cannot be added up
  summary,    // a total and the number of values in it
  histogram,  // numbers of values by range
};

using Number = std::variant<int64_t, uint64_t, double>;
double as_double(const Number& number);

struct Point {
  std::shared_ptr<const std::vector<std::string>> labels;  // UTF-8; null: there are none
  Number value;                                            // of a summary: the total
  uint64_t count = 0;                                      // values in a summary or a histogram
  std::vector<uint64_t> buckets;                           // of a histogram: one for each bound, and one for what is larger
};

// All keys of an aggregation added up, those that no point has included.
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
  std::vector<int64_t> bounds;      // of a histogram: the largest value in each bucket, rising
  bool is_quantize = false;         // a histogram whose buckets are those of quantize()
  uint64_t since = 0;               // walltimestamp from which values are counted
  std::vector<Point> points;
  MetricTotal total;
  int64_t normal = 1;           // of normalize(): exporters leave values as they are, drawings divide them
  bool is_aggregation = false;  // whose help is what the script assigns; else dvm says it of itself
};

struct Snapshot {
  uint64_t time = 0;  // walltimestamp
  std::vector<Metric> metrics;
};

// A metric without labels; one with labels and no points yet; a point for it.
Metric plain_metric(std::string name, std::string help, MetricKind kind, Number value);
Metric labelled_metric(std::string name, std::string help, MetricKind kind, std::vector<std::string> labels);
void add_point(Metric& metric, std::vector<std::string> labels, Number value);

// A number by the divisor of normalize(), cut as the consumer cuts it.
Number normalized(const Number& number, int64_t normal);

struct SnapshotParts {
  bool totals = true;  // of aggregations
  bool points = true;  // a point for each key
  bool is_last = false;
};

// Takes what is exported while tracing. The consumer calls it, between two polls: publish() may not wait.
class Exporter {
 public:
  virtual ~Exporter() = default;
  // The parts of snapshots that it needs while tracing. The last snapshot has all of them.
  virtual SnapshotParts wanted() const { return {}; }
  virtual void publish(Snapshot snapshot) = 0;
  // Tracing has ended. The run prints its results next; the last snapshot follows behind them.
  virtual void end() {}
};

}  // namespace dvm::runtime
