// Snapshots as lines for a terminal.

#include "export/live_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dvm::exporting {
namespace {

using runtime::Metric;
using runtime::MetricKind;
using runtime::Snapshot;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr uint64_t kSecond = 1'000'000'000;

Metric aggregation(std::string help, MetricKind kind) {
  Metric metric = runtime::labelled_metric("agg", std::move(help), kind, {"execname"});
  metric.is_aggregation = true;
  return metric;
}

Snapshot at(uint64_t seconds, Metric metric) {
  Snapshot snapshot;
  snapshot.time = (100 + seconds) * kSecond;
  snapshot.metrics = {std::move(metric), runtime::plain_metric("drops", "not shown", MetricKind::counter, uint64_t{1})};
  return snapshot;
}

Snapshot counts(uint64_t seconds, std::vector<std::pair<std::string, uint64_t>> rows) {
  Metric metric = aggregation("@n = count()", MetricKind::counter);
  for (auto& [key, value] : rows) runtime::add_point(metric, {key}, value);
  return at(seconds, std::move(metric));
}

// Without the blanks at the ends of lines, and one for several.
std::vector<std::string> words(std::vector<std::string> lines) {
  for (std::string& line : lines) {
    std::string made;
    for (const char c : line)
      if (c != ' ' || (!made.empty() && made.back() != ' ')) made += c;
    if (made.ends_with(' ')) made.pop_back();
    line = made;
  }
  return lines;
}

TEST(LiveView, ValuesAndGrowthAreDividedAsNormalizeAsks) {
  LiveView view;
  Snapshot first = counts(0, {{"sh", 1000}}), second = counts(2, {{"sh", 5009}});
  first.metrics[0].normal = second.metrics[0].normal = 10;
  view.take(first);
  view.take(second);
  EXPECT_THAT(words(view.draw({80, 24})), ElementsAre("2 s ^C ends", "@n = count() value per s", "sh 500 200"));
}

TEST(LiveView, TheLargestComeFirstWithTheirGrowth) {
  LiveView view;
  EXPECT_THAT(view.draw({80, 24}), ElementsAre());
  view.take(counts(0, {{"sh", 10}, {"redis", 500}}));
  EXPECT_THAT(words(view.draw({80, 24})), ElementsAre("0 s ^C ends", "@n = count() value per s", "redis 500", "sh 10"));
  view.take(counts(2, {{"sh", 1010}, {"redis", 600}, {"new", 4}}));
  EXPECT_THAT(words(view.draw({80, 24})),
              ElementsAre("2 s ^C ends", "@n = count() value per s", "sh 1010 500", "redis 600 50", "new 4 2"));
}

TEST(LiveView, ACounterThatWasClearedGrowsFromZero) {
  LiveView view;
  view.take(counts(0, {{"sh", 1000}}));
  view.take(counts(1, {{"sh", 7}}));
  EXPECT_EQ(words(view.draw({80, 24}))[2], "sh 7 7");
}

TEST(LiveView, NoLineIsWiderThanTheScreenAndNoneMore) {
  LiveView view;
  view.take(counts(0, {{"a process with a very long name, \u00e4\u00f6\u00fc", 123456789}, {"b", 2}, {"c", 1}}));
  view.take(counts(1, {{"a process with a very long name, \u00e4\u00f6\u00fc", 223456789}, {"b", 2}, {"c", 1}}));
  for (size_t columns = 1; columns < 200; columns++)
    for (size_t rows = 1; rows < 9; rows++) {
      const std::vector<std::string> lines = view.draw({columns, rows});
      EXPECT_LE(lines.size(), rows);
      for (const std::string& line : lines) {
        size_t width = 0;
        for (const char c : line) width += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
        EXPECT_EQ(width, columns) << line;
      }
    }
  EXPECT_THAT(words(view.draw({20, 3})), ElementsAre("1 s ^C ends", "@n = count() value", "... 3 more"));
  EXPECT_THAT(words(view.draw({20, 4}))[2], "a process wit 223M");
}

TEST(LiveView, TablesThatDoNotFitAreCounted) {
  Snapshot snapshot = counts(0, {{"a", 2}});
  for (const char* title : {"@m = count()", "@o = count()"}) snapshot.metrics.push_back(aggregation(title, MetricKind::counter));
  LiveView view;
  view.take(snapshot);
  EXPECT_THAT(words(view.draw({30, 2})), ElementsAre("0 s 2 hidden ^C ends", "@n = count() value"));
  EXPECT_THAT(words(view.draw({30, 24}))[0], "0 s ^C ends");
}

TEST(LiveView, KeysThatTheSnapshotLeavesOutAreCounted) {
  Snapshot snapshot = counts(0, {{"a", 2}, {"b", 1}});
  snapshot.metrics.push_back(runtime::labelled_metric("aggregation_keys", "", MetricKind::gauge, {"aggregation"}));
  runtime::add_point(snapshot.metrics.back(), {"agg"}, uint64_t{1'000'000});
  LiveView view;
  view.take(snapshot);
  EXPECT_EQ(words(view.draw({80, 24})).back(), "... 999998 more, 999998 beyond maxseries");
  Metric left = runtime::labelled_metric("aggregation_keys_left_out", "", MetricKind::gauge, {"aggregation", "reason"});
  runtime::add_point(left, {"agg", "unnamed"}, uint64_t{8});
  snapshot.metrics.push_back(std::move(left));
  view.take(snapshot);
  EXPECT_EQ(words(view.draw({80, 24})).back(), "... 999998 more, 8 not named yet, 999990 beyond maxseries");
}

TEST(LiveView, ATerminalObeysNoKey) {
  LiveView view;
  view.take(counts(0, {{"\033[2J\n", 1}}));
  EXPECT_THAT(view.draw({80, 24})[2], StartsWith("\\033[2J\\n "));
}

TEST(LiveView, MeansExtremesAndDistributions) {
  Metric mean = aggregation("@a = avg()", MetricKind::summary);
  runtime::add_point(mean, {"k"}, int64_t{30});
  mean.points[0].count = 4;
  LiveView view;
  view.take(at(0, mean));
  mean.points[0].count = 14, mean.points[0].value = int64_t{70};
  view.take(at(1, mean));
  EXPECT_EQ(words(view.draw({80, 24}))[2], "k 5 10");

  Metric most = aggregation("@m = max()", MetricKind::gauge);
  runtime::add_point(most, {"k"}, int64_t{-3});
  LiveView extremes;
  extremes.take(at(0, most));
  extremes.take(at(1, most));
  EXPECT_EQ(words(extremes.draw({80, 24}))[2], "k -3");

  Metric shape = aggregation("@q = quantize()", MetricKind::histogram);
  shape.bounds = {0, 1, 3};
  runtime::add_point(shape, {"k"}, int64_t{0});
  shape.points[0].count = 9, shape.points[0].buckets = {0, 1, 8, 0};
  LiveView shapes;
  shapes.take(at(0, shape));
  EXPECT_THAT(shapes.draw({80, 24})[2], HasSubstr("9            \u2582\u2588"));
}

TEST(Sparkline, IsAsHighAsTheShareOfTheLargest) {
  EXPECT_EQ(sparkline(std::vector<uint64_t>{}, 8), "");
  EXPECT_EQ(sparkline(std::vector<uint64_t>{0, 0}, 8), "  ");
  EXPECT_EQ(sparkline(std::vector<uint64_t>{0, 1, 4, 8}, 8), " \u2582\u2585\u2588");
  EXPECT_EQ(sparkline(std::vector<uint64_t>{1, 1, 4, 0}, 2), "\u2585\u2588");
}

}  // namespace
}  // namespace dvm::exporting
