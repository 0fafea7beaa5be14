// A run as an HTML page.

#include "view/page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace dvm::view {
namespace {

using nlohmann::json;
using runtime::MetricKind;

constexpr std::string_view kShell = "<script>/*DATA*/</script>";

json data_in(const std::string& page) {
  constexpr std::string_view kBefore = "<script>", kAfter = "</script>";
  const size_t end = page.find(kAfter);
  EXPECT_EQ(end, page.size() - kAfter.size()) << page;
  return json::parse(page.substr(kBefore.size(), end - kBefore.size()));
}

runtime::Metric aggregation(MetricKind kind) {
  runtime::Metric metric = runtime::labelled_metric("agg_a", "@a = f()", kind, {"k"});
  metric.is_aggregation = true;
  return metric;
}

TEST(Page, NoKeyEndsItsElement) {
  runtime::Snapshot last;
  last.metrics = {aggregation(MetricKind::counter)};
  const std::string key = "</script><script>alert(1)</script><!--";
  runtime::add_point(last.metrics[0], {key}, UINT64_MAX);
  const json data = data_in(page(kShell, {.version = "1", .last = &last, .account = "", .flames = {{"@s", "<svg></svg>", ""}}}));
  EXPECT_EQ(data["tables"][0]["rows"][0], json({{"keys", {key}}, {"value", "18446744073709551615"}}));
  EXPECT_EQ(data["flames"][0]["svg"], "<svg></svg>");
}

TEST(Page, MeansAndDistributions) {
  runtime::Snapshot last;
  last.metrics = {aggregation(MetricKind::summary), aggregation(MetricKind::histogram)};
  runtime::add_point(last.metrics[0], {"m"}, int64_t{-9});
  last.metrics[0].points[0].count = 4;
  last.metrics[1].bounds = {0, 1};
  runtime::add_point(last.metrics[1], {"h"}, int64_t{0});
  last.metrics[1].points[0].count = 3, last.metrics[1].points[0].buckets = {0, 1, 2};
  const json tables = data_in(page(kShell, {.version = "1", .last = &last, .account = "", .flames = {}}))["tables"];
  EXPECT_EQ(tables[0]["rows"][0], json({{"keys", {"m"}}, {"value", "-2.25"}, {"count", "4"}}));
  EXPECT_EQ(tables[1]["rows"][0], json({{"keys", {"h"}}, {"value", "3"}, {"buckets", {0, 1, 2}}}));
  EXPECT_EQ(tables[1]["bounds"], json({0, 1}));
}

TEST(Page, ValuesAreDividedAsNormalizeAsks) {
  runtime::Snapshot last;
  last.metrics = {aggregation(MetricKind::counter), aggregation(MetricKind::histogram), aggregation(MetricKind::gauge)};
  for (runtime::Metric& metric : last.metrics) metric.normal = 10;
  runtime::add_point(last.metrics[0], {"c"}, uint64_t{39});
  runtime::add_point(last.metrics[1], {"h"}, int64_t{0});
  last.metrics[1].points[0].count = 25, last.metrics[1].points[0].buckets = {20, 5};
  runtime::add_point(last.metrics[2], {"g"}, int64_t{-25});
  last.metrics[2].normal = -10;
  const json tables = data_in(page(kShell, {.version = "1", .last = &last, .account = "", .flames = {}}))["tables"];
  EXPECT_EQ(tables[0]["rows"][0]["value"], "3");
  EXPECT_EQ(tables[0]["normal"], 10);
  EXPECT_EQ(tables[1]["rows"][0], json({{"keys", {"h"}}, {"value", "2"}, {"buckets", {2, 0}}}));
  EXPECT_EQ(tables[2]["rows"][0]["value"], "2");
}

TEST(Page, WhatDvmSaysOfItselfIsApart) {
  runtime::Snapshot last;
  last.metrics = {runtime::labelled_metric("drops", "lost", MetricKind::counter, {"kind"})};
  runtime::add_point(last.metrics[0], {"principal"}, uint64_t{7});
  const json data = data_in(page(kShell, {.version = "1", .last = &last, .account = "{\"ecbs\": []}", .flames = {}}));
  EXPECT_TRUE(data["tables"].empty());
  EXPECT_EQ(data["numbers"][0], json({{"name", "drops"}, {"help", "lost"}, {"labels", "principal"}, {"value", "7"}}));
  EXPECT_EQ(data["account"], json::parse("{\"ecbs\": []}"));
}

TEST(Page, WithoutARunThereIsNothing) {
  const json data = data_in(page(kShell, {.version = "1", .account = "no JSON", .flames = {}}));
  EXPECT_TRUE(data["tables"].empty());
  EXPECT_TRUE(data["account"].is_null());
}

}  // namespace
}  // namespace dvm::view
