// Snapshots in Prometheus' text format.

#include "export/prometheus_text.h"

#include <gtest/gtest.h>

namespace dvm::exporting {
namespace {

using runtime::Metric;
using runtime::MetricKind;
using runtime::Snapshot;

Snapshot with(Metric metric) {
  Snapshot snapshot;
  snapshot.metrics.push_back(std::move(metric));
  return snapshot;
}

TEST(PrometheusText, NumbersOfEveryKind) {
  Snapshot snapshot;
  snapshot.metrics = {plain_metric("a", "one", MetricKind::counter, UINT64_MAX),
                      plain_metric("b", "two", MetricKind::sum, INT64_MIN), plain_metric("c", "three", MetricKind::gauge, 0.5)};
  EXPECT_EQ(prometheus_text(snapshot),
            "# HELP dvm_a_total one\n# TYPE dvm_a_total counter\ndvm_a_total 18446744073709551615\n"
            "# HELP dvm_b two\n# TYPE dvm_b gauge\ndvm_b -9223372036854775808\n"
            "# HELP dvm_c three\n# TYPE dvm_c gauge\ndvm_c 0.5\n");
}

TEST(PrometheusText, LabelsAndHelpAreEscaped) {
  Metric metric = labelled_metric("a", "x\\y\n\"z\"", MetricKind::gauge, {"one", "two"});
  add_point(metric, {"back \\ quote \" line \n", ""}, int64_t{1});
  EXPECT_EQ(prometheus_text(with(metric)),
            "# HELP dvm_a x\\\\y\\n\"z\"\n# TYPE dvm_a gauge\ndvm_a{one=\"back \\\\ quote \\\" line \\n\",two=\"\"} 1\n");
}

TEST(PrometheusText, BucketsAddUp) {
  Metric metric = labelled_metric("a", "", MetricKind::histogram, {"k"});
  metric.bounds = {-1, 7};
  add_point(metric, {"v"}, int64_t{0});
  metric.points[0].buckets = {2, 3, 4}, metric.points[0].count = 9;
  EXPECT_EQ(prometheus_text(with(metric)),
            "# HELP dvm_a \n# TYPE dvm_a histogram\ndvm_a_bucket{k=\"v\",le=\"-1\"} 2\ndvm_a_bucket{k=\"v\",le=\"7\"} 5\n"
            "dvm_a_bucket{k=\"v\",le=\"+Inf\"} 9\ndvm_a_count{k=\"v\"} 9\n");
}

TEST(PrometheusText, ASummaryHasATotalAndANumber) {
  Metric metric = plain_metric("a", "", MetricKind::summary, int64_t{-6});
  metric.points[0].count = 2;
  EXPECT_EQ(prometheus_text(with(metric)), "# HELP dvm_a \n# TYPE dvm_a summary\ndvm_a_sum -6\ndvm_a_count 2\n");
}

TEST(PrometheusText, NamesThatMeetGetAnEnding) {
  Snapshot snapshot;
  snapshot.metrics = {
      plain_metric("x", "", MetricKind::counter, uint64_t{1}), plain_metric("x_total", "", MetricKind::sum, uint64_t{2}),
      plain_metric("h_count", "", MetricKind::gauge, uint64_t{3}), labelled_metric("h", "", MetricKind::histogram, {})};
  const std::string text = prometheus_text(snapshot);
  EXPECT_NE(text.find("\ndvm_x_total 1\n"), std::string::npos);
  EXPECT_NE(text.find("\ndvm_x_total_ 2\n"), std::string::npos);
  EXPECT_NE(text.find("# TYPE dvm_h_ histogram"), std::string::npos);
}

}  // namespace
}  // namespace dvm::exporting
