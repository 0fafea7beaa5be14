// Saved results as what a page shows.

#include "view/saved_page.h"

#include <gtest/gtest.h>

#include <sstream>

namespace dvm::view {
namespace {

using runtime::Metric;
using runtime::MetricKind;

Results read(const std::string& text) {
  std::istringstream lines(text);
  Results results;
  const Status added = results.add("run", lines);
  EXPECT_TRUE(added) << added.error().message;
  return results;
}

std::string aggregation(const std::string& description, const std::string& rows) {
  return R"({"type":"aggregation","aggregations":[)" + description + R"(],"rows":[)" + rows + "]}\n";
}

TEST(SavedPage, TheLargestRowsAreKeptAndTheOthersCounted) {
  const auto row = [](const std::string& key, int value) {
    return R"({"keys":[")" + key + R"("],"values":[)" + std::to_string(value) + "]}";
  };
  const runtime::Snapshot snapshot = snapshot_of(
      read(aggregation(R"({"name":"n","function":"sum","normal":1})", row("a", 1) + "," + row("c", 9) + "," + row("b", -5))), 2);
  const Metric& table = snapshot.metrics.at(0);
  EXPECT_EQ(table.name, "agg_n");
  EXPECT_EQ(table.help, "@n = sum()");
  ASSERT_EQ(table.points.size(), 2U);
  EXPECT_EQ(table.points[0].labels->at(0), "c");
  EXPECT_EQ(std::get<int64_t>(table.points[0].value), 9);
  EXPECT_EQ(table.points[1].labels->at(0), "a");
  EXPECT_EQ(snapshot.metrics.at(1).name, "aggregation_keys_left_out");
  EXPECT_EQ(std::get<uint64_t>(snapshot.metrics[1].points.at(0).value), 1U);
}

TEST(SavedPage, DistributionsAndStacks) {
  const std::string row =
      R"({"keys":[{"frames":[{"pid":1,"address":"0x1","module":"m","function":"f"},{"pid":1,"address":"0x2"}]}],)"
      R"("values":[{"buckets":[{"min":4,"max":7,"count":2},{"min":1,"max":1,"count":3}]}]})";
  const Results results = read(aggregation(R"({"name":"q","function":"quantize","normal":1})", row));
  const Metric table = snapshot_of(results, 10).metrics.at(0);
  EXPECT_EQ(table.kind, MetricKind::histogram);
  EXPECT_EQ(table.points.at(0).labels->at(0), "m`f;0x2");
  EXPECT_EQ(table.points[0].count, 5U);
  EXPECT_EQ(table.bounds, (std::vector<int64_t>{0, 1, 3, 7}));
  EXPECT_EQ(table.points[0].buckets, (std::vector<uint64_t>{0, 3, 0, 2, 0}));
  EXPECT_EQ(flames_of(results, {.title = "", .unit = "calls"}).at(0).title, "@q");
}

TEST(SavedPage, ValuesKeepTheirDivisor) {
  const std::string row = R"({"keys":[],"values":[3],"states":[[[0,39]]]})";
  const Metric table = snapshot_of(read(aggregation(R"({"name":"c","function":"count","normal":10})", row)), 10).metrics.at(0);
  EXPECT_EQ(table.normal, 10);
  EXPECT_EQ(std::get<uint64_t>(table.points.at(0).value), 39U);
}

TEST(SavedPage, LossesAreCards) {
  const std::string drop = R"({"type":"drop","kind":"principal","cpu":0,"count":5,"message":"x"})";
  const std::string count = aggregation(R"({"name":"","function":"count","normal":1})", "");
  const runtime::Snapshot snapshot = snapshot_of(read(drop + "\n" + drop + "\n" + count), 10);
  EXPECT_EQ(snapshot.metrics.at(0).name, "agg");
  EXPECT_EQ(snapshot.metrics.at(1).name, "drops");
  EXPECT_EQ(std::get<uint64_t>(snapshot.metrics[1].points.at(0).value), 10U);
}

}  // namespace
}  // namespace dvm::view
