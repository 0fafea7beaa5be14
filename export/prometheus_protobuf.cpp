// By libprotobuf. Tested by tests/unit/export/prometheus_protobuf_test.cpp and tests/runtime/scenarios/test_prometheus.py.

#include "export/prometheus_protobuf.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "export/prometheus_names.h"
#include "exposition.pb.h"

namespace dvm::exporting {
namespace {

using runtime::as_double;
using runtime::Metric;
using runtime::MetricKind;
using runtime::Point;

// Any threshold below 1 would do for integers. This is that of Prometheus' own libraries, so their histograms add up with these.
constexpr double kZeroThreshold = 0x1p-128;
constexpr double kUnknownSum = std::numeric_limits<double>::quiet_NaN();
constexpr int kTopIndex = 63;  // of the bucket from 2^62

exposition::MetricType type_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter:
      return exposition::COUNTER;
    case MetricKind::summary:
      return exposition::SUMMARY;
    case MetricKind::histogram:
      return exposition::HISTOGRAM;
    default:
      return exposition::GAUGE;
  }
}

// The native bucket, of either sign, for D's bucket with the largest value `bound`; its bound farthest from 0 is 2^index.
int native_index(int64_t bound) {
  const uint64_t distance = bound < 0 ? -static_cast<uint64_t>(bound) : static_cast<uint64_t>(bound);
  return distance == 1 ? 0 : static_cast<int>(std::bit_width(distance));
}

// Writes native buckets of one sign, by rising index.
template <class Spans, class Deltas>
class NativeWriter {
 public:
  NativeWriter(Spans& spans, Deltas& deltas) : spans_(spans), deltas_(deltas) {}

  void add(int index, uint64_t count) {
    if (count == 0) return;
    if (spans_.empty() || index != next_) {
      exposition::BucketSpan* span = spans_.Add();
      span->set_offset(index - next_);
    }
    exposition::BucketSpan& last = *spans_.Mutable(spans_.size() - 1);
    last.set_length(last.length() + 1);
    deltas_.Add(static_cast<int64_t>(count - before_));
    next_ = index + 1, before_ = count;
  }

 private:
  Spans& spans_;
  Deltas& deltas_;
  int next_ = 0;
  uint64_t before_ = 0;
};

void fill_native(exposition::Histogram& histogram, const Metric& metric, const Point& point) {
  histogram.set_zero_threshold(kZeroThreshold);
  NativeWriter positive(*histogram.mutable_positive_span(), *histogram.mutable_positive_delta());
  NativeWriter negative(*histogram.mutable_negative_span(), *histogram.mutable_negative_delta());
  for (size_t i = 0; i < metric.bounds.size(); i++) {
    if (metric.bounds[i] == 0) histogram.set_zero_count(point.buckets[i]);
    if (metric.bounds[i] > 0) positive.add(native_index(metric.bounds[i]), point.buckets[i]);
  }
  positive.add(kTopIndex, point.buckets.back());
  for (size_t i = metric.bounds.size(); i-- > 0;)
    if (metric.bounds[i] < 0) negative.add(native_index(metric.bounds[i]), point.buckets[i]);
}

// The bucket without a bound is not written: readers know it by the number of values.
void fill(exposition::Histogram& histogram, const Metric& metric, const Point& point) {
  histogram.set_sample_count(point.count);
  histogram.set_sample_sum(kUnknownSum);
  uint64_t below = 0;
  for (size_t i = 0; i < metric.bounds.size(); i++) {
    exposition::Bucket* bucket = histogram.add_bucket();
    bucket->set_cumulative_count(below += point.buckets[i]);
    bucket->set_upper_bound(static_cast<double>(metric.bounds[i]));
  }
  if (metric.is_quantize) fill_native(histogram, metric, point);
}

void fill(exposition::Metric& made, const Metric& metric, const Point& point) {
  for (size_t i = 0; point.labels && i < point.labels->size(); i++) {
    exposition::LabelPair* label = made.add_label();
    label->set_name(metric.labels[i]);
    label->set_value((*point.labels)[i]);
  }
  switch (metric.kind) {
    case MetricKind::counter:
      return made.mutable_counter()->set_value(as_double(point.value));
    case MetricKind::summary:
      made.mutable_summary()->set_sample_count(point.count);
      return made.mutable_summary()->set_sample_sum(as_double(point.value));
    case MetricKind::histogram:
      return fill(*made.mutable_histogram(), metric, point);
    default:
      return made.mutable_gauge()->set_value(as_double(point.value));
  }
}

exposition::MetricFamily family_of(const Metric& metric, std::string name) {
  exposition::MetricFamily family;
  family.set_name(std::move(name));
  family.set_help(metric.help);
  family.set_type(type_of(metric.kind));
  for (const Point& point : metric.points) fill(*family.add_metric(), metric, point);
  return family;
}

}  // namespace

bool has_prometheus_protobuf() { return true; }

std::string prometheus_protobuf(const runtime::Snapshot& snapshot) {
  std::string text;
  google::protobuf::io::StringOutputStream stream(&text);
  google::protobuf::io::CodedOutputStream out(&stream);
  PrometheusNames names;
  for (const Metric& metric : snapshot.metrics) {
    std::string name = names.claim(metric);
    if (metric.points.empty()) continue;
    const exposition::MetricFamily family = family_of(metric, std::move(name));
    out.WriteVarint32(static_cast<uint32_t>(family.ByteSizeLong()));
    family.SerializeToCodedStream(&out);
  }
  out.Trim();
  return text;
}

}  // namespace dvm::exporting
