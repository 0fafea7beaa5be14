// What snapshots of aggregations cost the consumer: names of keys, and totals without them.
#include "runtime/consumer/aggregation_metrics.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "tests/unit/runtime/session.h"

namespace dvm::runtime::test {
namespace {

constexpr uint64_t kKeys = 50'000;

class SnapshotTest : public ::testing::Test {
 protected:
  SnapshotTest() : metrics_(options_, enabling_, made_) {
    probe_.id = 1;
    probe_.name = "BEGIN";
    dif::ActDesc counting = aggregate(dif::Action::agg_count, 1, {constant(0, kLong)}, 1);
    counting.args[0].made_by = dif::Action::uaddr;
    dif::Program program;
    program.clauses = {clause("BEGIN", {counting})};
    program.aggregations = {declare(1, dif::Action::agg_count, {{dif::TypeKind::bytes, false, false, 16, ""}})};
    const auto all = [this](const dif::ProbeDesc&) { return std::vector<const Probe*>{&probe_}; };
    EXPECT_TRUE(enabling_.add(program, all, options_, vm::CostPolicy::none));
    EXPECT_TRUE(options_.set("maxseries", std::to_string(kKeys)));
    const EnabledAggregation& one = enabling_.aggregations().front();
    aggregations_.declare(one.desc, one.words, one.function->initial);
  }
  // So many addresses of this process that have not been there before.
  void count(uint64_t keys) {
    MergedAggregation& aggregation = *aggregations_.find(enabling_.aggregations().front().desc.id);
    for (uint64_t i = 0; i < keys; i++) {
      const uint64_t key[2] = {static_cast<uint64_t>(getpid()), next_++}, value = 1;
      merge(aggregation, {reinterpret_cast<const char*>(key), sizeof key}, std::span(&value, 1));
    }
  }
  Metric snapshot(const SnapshotParts& parts) {
    Snapshot made;
    metrics_.add(aggregations_, made, parts);
    left_ = 0;
    for (const Point& point : made.metrics.back().points)
      if (point.labels->at(1) == "unnamed") left_ += static_cast<uint64_t>(as_double(point.value));
    return made.metrics.front();
  }

  dif::Options options_;
  Probe probe_;
  Enabling enabling_;
  UserSymbols symbols_;
  MadePrinter made_{symbols_};
  Aggregations aggregations_;
  AggregationMetrics metrics_;
  uint64_t next_ = reinterpret_cast<uint64_t>(&getpid), left_ = 0;
};

TEST_F(SnapshotTest, TotalsNameNothing) {
  count(kKeys);
  const Metric metric = snapshot({.totals = true, .points = false, .is_last = false});
  EXPECT_EQ(metric.total.value, kKeys);
  EXPECT_TRUE(metric.points.empty());
  EXPECT_TRUE(symbols_.answers().empty());
}

// Names for all would take a hundred times as long as a snapshot may spend on them.
TEST_F(SnapshotTest, NamesThatTakeLongWait) {
  count(kKeys);
  const Metric first = snapshot({});
  EXPECT_GT(left_, kKeys / 2);
  EXPECT_LT(first.points.size(), kKeys / 2);
  EXPECT_EQ(first.total.value, kKeys);
  ASSERT_FALSE(first.points.empty());
  const Metric second = snapshot({});
  EXPECT_GT(second.points.size(), first.points.size());
  EXPECT_EQ(second.points.front().labels, first.points.front().labels);  // named once
  // Some functions have the same name, so their keys are one.
  EXPECT_GT(snapshot({.totals = true, .points = true, .is_last = true}).points.size(), kKeys / 10 * 9);
  EXPECT_EQ(left_, 0U);
}

}  // namespace
}  // namespace dvm::runtime::test
