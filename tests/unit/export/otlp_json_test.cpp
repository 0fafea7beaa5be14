// Requests of OTLP, and answers from any server.

#include "export/otlp_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace dvm::exporting {
namespace {

using Json = nlohmann::json;
using runtime::Metric;
using runtime::MetricKind;

Json metric_of(Metric metric) {
  runtime::Snapshot snapshot;
  snapshot.time = 1'700'000'000'000'000'000;
  snapshot.metrics.push_back(std::move(metric));
  const Json body = Json::parse(otlp_metrics(snapshot, {"1.0", "here"}));
  return body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0];
}

TEST(OtlpJson, IntegersAreStringsAndDoublesAreNot) {
  Metric metric = labelled_metric("a_b", "help", MetricKind::counter, {"k"});
  metric.since = 7;
  add_point(metric, {"v"}, uint64_t{INT64_MAX});
  add_point(metric, {"w"}, uint64_t{INT64_MAX} + 1);
  add_point(metric, {"x"}, int64_t{INT64_MIN});
  const Json json = metric_of(metric);
  EXPECT_EQ(json["name"], "dvm.a_b");
  const Json& points = json["sum"]["dataPoints"];
  EXPECT_EQ(points[0]["asInt"], "9223372036854775807");
  EXPECT_EQ(points[1]["asDouble"], 0x1p63);
  EXPECT_EQ(points[2]["asInt"], "-9223372036854775808");
  EXPECT_EQ(points[0]["startTimeUnixNano"], "7");
  EXPECT_EQ(points[0]["timeUnixNano"], "1700000000000000000");
  EXPECT_EQ(points[0]["attributes"], Json::parse(R"([{"key": "k", "value": {"stringValue": "v"}}])"));
  EXPECT_EQ(json["sum"]["isMonotonic"], true);
}

TEST(OtlpJson, AHistogramHasABucketMoreThanBounds) {
  Metric metric = plain_metric("h", "", MetricKind::histogram, int64_t{0});
  metric.bounds = {-1, 7};
  metric.points[0].buckets = {2, 3, 4}, metric.points[0].count = 9;
  const Json point = metric_of(metric)["histogram"]["dataPoints"][0];
  EXPECT_EQ(point["explicitBounds"], Json::parse("[-1, 7]"));
  EXPECT_EQ(point["bucketCounts"], Json::parse(R"(["2", "3", "4"])"));
  EXPECT_EQ(point["count"], "9");
  EXPECT_FALSE(point.contains("sum"));
}

TEST(OtlpJson, AGaugeHasNoStart) {
  const Json point = metric_of(plain_metric("g", "", MetricKind::gauge, int64_t{4}))["gauge"]["dataPoints"][0];
  EXPECT_EQ(point["asInt"], "4");
  EXPECT_FALSE(point.contains("startTimeUnixNano"));
}

TEST(OtlpJson, ASumMayFall) {
  const Json sum = metric_of(plain_metric("s", "", MetricKind::sum, int64_t{-4}))["sum"];
  EXPECT_EQ(sum["isMonotonic"], false);
  EXPECT_EQ(sum["aggregationTemporality"], 2);
}

TEST(OtlpJson, ASummaryHasATotalAndANumber) {
  Metric metric = plain_metric("s", "", MetricKind::summary, int64_t{-6});
  metric.points[0].count = 2;
  Json point = metric_of(metric)["summary"]["dataPoints"][0];
  EXPECT_EQ(point["sum"], -6.0);
  EXPECT_EQ(point["count"], "2");
}

TEST(OtlpJson, AMetricWithoutPointsIsLeftOut) {
  runtime::Snapshot snapshot;
  snapshot.metrics.push_back(labelled_metric("a", "", MetricKind::counter, {"k"}));
  Json body = Json::parse(otlp_metrics(snapshot, {"1.0", "here"}));
  EXPECT_EQ(body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"], Json::array());
}

TEST(OtlpJson, LabelsAreMadeUtf8) {
  Metric metric = labelled_metric("a", "", MetricKind::counter, {"k"});
  add_point(metric, {"v\xff"}, uint64_t{1});
  EXPECT_EQ(metric_of(metric)["sum"]["dataPoints"][0]["attributes"][0]["value"]["stringValue"], "v\ufffd");
}

TEST(OtlpJson, TextOfRecordsIsMadeUtf8) {
  const LogRecord record{.probe = std::make_shared<const std::string>("a:b:c:d"),
                         .name = "x\xff",
                         .text = "\xc3(",
                         .cpu = 1,
                         .pid = -2,
                         .tid = 3,
                         .time = 5};
  const Json body = Json::parse(otlp_logs(std::span(&record, 1), 6, {"1.0", "here"}));
  const Json& log = body["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0];
  EXPECT_EQ(log["body"]["stringValue"], "\ufffd(");
  EXPECT_EQ(log["attributes"][4]["value"]["stringValue"], "x\ufffd");
  EXPECT_EQ(log["attributes"][2]["value"]["intValue"], "-2");
  EXPECT_EQ(log["observedTimeUnixNano"], "6");
}

TEST(OtlpJson, AnswersOfAnyKind) {
  for (const char* answer :
       {"", "{", "[]", "7", "null", R"({"partialSuccess": []})", R"({"partialSuccess": {}})",
        R"({"partialSuccess": {"rejectedLogRecords": -1, "errorMessage": 5}})",
        R"({"partialSuccess": {"rejectedLogRecords": "-5"}})", R"({"partialSuccess": {"rejectedLogRecords": "5x"}})"})
    EXPECT_EQ(rejected_in(answer).count, 0u) << answer;
  const Rejected some = rejected_in(R"({"partialSuccess": {"rejectedDataPoints": "12", "errorMessage": "why"}})");
  EXPECT_EQ(some.count, 12u);
  EXPECT_EQ(some.reason, "why");
  EXPECT_EQ(rejected_in(R"({"partialSuccess": {"rejectedLogRecords": 3}})").count, 3u);
}

}  // namespace
}  // namespace dvm::exporting
