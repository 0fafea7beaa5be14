// Snapshots added up into slices of time.

#include "view/history.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace dvm::view {
namespace {

using nlohmann::json;
using runtime::Metric;
using runtime::MetricKind;
using runtime::Snapshot;

Snapshot at(uint64_t time, Metric metric) {
  metric.is_aggregation = true;
  Snapshot snapshot;
  snapshot.time = 1000 + time;
  snapshot.metrics = {std::move(metric)};
  return snapshot;
}

Snapshot count(uint64_t time, uint64_t one, uint64_t other) {
  Metric metric = runtime::labelled_metric("agg", "", MetricKind::counter, {"k"});
  metric.total.value = static_cast<double>(one + other);
  return at(time, std::move(metric));
}

Snapshot distribution(uint64_t time, std::vector<int64_t> bounds, std::vector<uint64_t> buckets) {
  Metric metric = runtime::labelled_metric("agg", "", MetricKind::histogram, {});
  metric.total.bounds = std::move(bounds);
  for (const uint64_t each : buckets) metric.total.value += static_cast<double>(each);
  metric.total.buckets = std::move(buckets);
  return at(time, std::move(metric));
}

TEST(History, GrowthIsOfAllKeys) {
  History history;
  history.add(count(0, 100, 1));
  history.add(count(10, 103, 2));
  history.add(count(30, 103, 12));
  EXPECT_EQ(history.json()["times"], json({10, 30}));
  EXPECT_EQ(history.json()["series"]["agg"], json({4.0, 10.0}));
  EXPECT_TRUE(history.json()["heat"].empty());
}

TEST(History, ASnapshotThatComesSoonBelongsToTheSliceBefore) {
  History history;
  history.add(count(0, 0, 0));
  history.add(count(10, 4, 0));
  history.add(count(14, 9, 0));
  EXPECT_EQ(history.json()["times"], json({14}));
  EXPECT_EQ(history.json()["series"]["agg"], json({9.0}));
  history.add(count(21, 10, 0));
  EXPECT_EQ(history.json()["times"], json({14, 21}));
  EXPECT_EQ(history.json()["series"]["agg"], json({9.0, 1.0}));
}

TEST(History, AfterClearItGrowsFromZero) {
  History history;
  history.add(count(0, 100, 0));
  history.add(count(10, 7, 0));
  EXPECT_EQ(history.json()["series"]["agg"], json({7.0}));
}

TEST(History, AnAggregationThatComesLateHasNoGrowthBefore) {
  History history;
  history.add(Snapshot{1000, {}});
  history.add(Snapshot{1010, {}});
  history.add(count(20, 5, 0));
  EXPECT_EQ(history.json()["series"]["agg"], json({0.0, 5.0}));
}

TEST(History, BucketsBetweenFilledOnesAreKept) {
  History history;
  history.add(distribution(0, {0, 1, 3, 7}, {0, 2, 0, 0, 0}));
  history.add(distribution(10, {0, 1, 3, 7}, {0, 5, 0, 1, 0}));
  const json heat = history.json()["heat"]["agg"];
  EXPECT_EQ(heat["bounds"], json({1, 3, 7}));
  EXPECT_EQ(heat["cells"], json::parse("[[3, 0, 1]]"));
}

TEST(History, TheLastBucketHasNoBound) {
  History history;
  history.add(distribution(0, {10}, {0, 0}));
  history.add(distribution(10, {10}, {1, 4}));
  history.add(distribution(20, {10, 20}, {1, 2, 1}));  // cleared meanwhile
  const json heat = history.json()["heat"]["agg"];
  EXPECT_EQ(heat["bounds"], json::parse("[10, 20, null]"));
  EXPECT_EQ(heat["cells"], json::parse("[[1, 0, 4], [1, 2, 1]]"));
}

TEST(History, SlicesAreBoundedAndLoseNothing) {
  History history;
  uint64_t total = 0;
  history.add(count(0, 0, 0));
  for (uint64_t i = 1; i <= 5 * kMostSlices; i++) history.add(count(10 * i, total += i, 0));
  const json made = history.json();
  ASSERT_LE(made["times"].size(), kMostSlices);
  EXPECT_EQ(made["times"].back(), 50 * kMostSlices);
  EXPECT_TRUE(std::is_sorted(made["times"].begin(), made["times"].end()));
  ASSERT_EQ(made["series"]["agg"].size(), made["times"].size());
  double sum = 0;
  for (const json& each : made["series"]["agg"]) sum += each.get<double>();
  EXPECT_EQ(sum, static_cast<double>(total));
}

}  // namespace
}  // namespace dvm::view
