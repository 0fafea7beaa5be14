// Snapshots in Prometheus' protobuf format.

#include "export/prometheus_protobuf.h"

#include <google/protobuf/io/coded_stream.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "exposition.pb.h"

namespace dvm::exporting {
namespace {

using runtime::Metric;
using runtime::MetricKind;

std::vector<exposition::MetricFamily> families_in(const std::string& text) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(text.data()), static_cast<int>(text.size()));
  std::vector<exposition::MetricFamily> all;
  for (uint32_t length; in.ReadVarint32(&length);) {
    const auto limit = in.PushLimit(static_cast<int>(length));
    EXPECT_TRUE(all.emplace_back().ParseFromCodedStream(&in) && in.ConsumedEntireMessage());
    in.PopLimit(limit);
  }
  return all;
}

exposition::MetricFamily family_of(const Metric& metric) {
  runtime::Snapshot snapshot;
  snapshot.metrics = {metric};
  const auto all = families_in(prometheus_protobuf(snapshot));
  return all.size() == 1 ? all[0] : exposition::MetricFamily();
}

exposition::Histogram histogram_of(std::vector<int64_t> bounds, std::vector<uint64_t> buckets, bool is_quantize = true) {
  Metric metric = plain_metric("q", "", MetricKind::histogram, int64_t{0});
  metric.is_quantize = is_quantize, metric.bounds = std::move(bounds);
  for (const uint64_t count : buckets) metric.points[0].count += count;
  metric.points[0].buckets = std::move(buckets);
  return family_of(metric).metric(0).histogram();
}

template <class Field>
std::vector<int64_t> list(const Field& field) {
  return {field.begin(), field.end()};
}

// Offset and length of each.
template <class Field>
std::vector<int64_t> spans(const Field& field) {
  std::vector<int64_t> all;
  for (const exposition::BucketSpan& span : field) all.push_back(span.offset()), all.push_back(span.length());
  return all;
}

TEST(PrometheusProtobuf, NumbersWithLabels) {
  Metric metric = labelled_metric("a", "one", MetricKind::counter, {"k"});
  add_point(metric, {"\xc3\xbc\n"}, UINT64_MAX);
  const exposition::MetricFamily family = family_of(metric);
  EXPECT_EQ(family.name(), "dvm_a_total");
  EXPECT_EQ(family.help(), "one");
  EXPECT_EQ(family.type(), exposition::COUNTER);
  EXPECT_EQ(family.metric(0).label(0).name() + "=" + family.metric(0).label(0).value(), "k=\xc3\xbc\n");
  EXPECT_EQ(family.metric(0).counter().value(), 0x1p64);
  EXPECT_EQ(family_of(plain_metric("g", "", MetricKind::sum, int64_t{-5})).metric(0).gauge().value(), -5);
  Metric average = plain_metric("s", "", MetricKind::summary, int64_t{-6});
  average.points[0].count = 2;
  EXPECT_EQ(family_of(average).metric(0).summary().sample_count(), 2u);
  EXPECT_EQ(family_of(average).metric(0).summary().sample_sum(), -6);
}

TEST(PrometheusProtobuf, BucketsOfQuantizeAreNativeToo) {
  const exposition::Histogram made = histogram_of({-4, -2, -1, 0, 1, 3, 7}, {5, 0, 6, 7, 8, 9, 4, 0});
  EXPECT_EQ(made.sample_count(), 39u);
  EXPECT_TRUE(std::isnan(made.sample_sum()));
  EXPECT_EQ(made.bucket_size(), 7);
  EXPECT_EQ(made.bucket(6).cumulative_count(), 39u);
  EXPECT_EQ(made.bucket(6).upper_bound(), 7);
  EXPECT_EQ(made.schema(), 0);
  EXPECT_EQ(made.zero_count(), 7u);
  EXPECT_TRUE(made.zero_threshold() > 0 && made.zero_threshold() < 1);
  // 1 is in (0.5, 1], 2 and 3 in (2, 4], 4 to 7 in (4, 8]; likewise below 0: -1, and -4 to -7.
  EXPECT_EQ(spans(made.positive_span()), (std::vector<int64_t>{0, 1, 1, 2}));
  EXPECT_EQ(list(made.positive_delta()), (std::vector<int64_t>{8, 1, -5}));
  EXPECT_EQ(spans(made.negative_span()), (std::vector<int64_t>{0, 1, 2, 1}));
  EXPECT_EQ(list(made.negative_delta()), (std::vector<int64_t>{6, -1}));
}

TEST(PrometheusProtobuf, BucketsAtTheEndsOfTheRange) {
  const exposition::Histogram made = histogram_of({-(int64_t{1} << 62), INT64_MAX >> 1}, {2, 0, 3});
  EXPECT_EQ(spans(made.negative_span()), (std::vector<int64_t>{63, 1}));
  EXPECT_EQ(spans(made.positive_span()), (std::vector<int64_t>{63, 1}));
}

TEST(PrometheusProtobuf, OtherDistributionsHaveClassicBucketsOnly) {
  const exposition::Histogram made = histogram_of({-1, 9, 19}, {1, 2, 3, 4}, false);
  EXPECT_EQ(made.bucket_size(), 3);
  EXPECT_EQ(made.positive_span_size() + made.negative_span_size(), 0);
  EXPECT_EQ(made.zero_threshold(), 0);
}

TEST(PrometheusProtobuf, AMetricWithoutPointsIsLeftOut) {
  runtime::Snapshot snapshot;
  snapshot.metrics = {labelled_metric("a", "", MetricKind::counter, {"k"}), plain_metric("b", "", MetricKind::gauge, 0.5)};
  const auto all = families_in(prometheus_protobuf(snapshot));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].name(), "dvm_b");
}

}  // namespace
}  // namespace dvm::exporting
