// What interpreted clauses cost, as option engine=auto reckons it.

#include "runtime/probe/runs.h"

#include <gtest/gtest.h>

namespace dvm::runtime {
namespace {

constexpr double kClock = 20;  // ticks of reading the clock

TEST(EcbRuns, NothingTimedCostsNothing) {
  EcbRuns runs;
  runs.firings = 1000;
  EXPECT_EQ(runs.cost(kClock), 0);
}

TEST(EcbRuns, AllFiringsCostWhatTheTimedOnesDoWithoutTheClock) {
  EcbRuns runs;
  runs.firings = 610;
  for (const uint64_t ticks : {120, 100, 140}) runs.add(ticks);
  EXPECT_EQ(runs.cost(kClock), 610 * 100);
}

TEST(EcbRuns, FiringsFasterThanTheClockCostNothing) {
  EcbRuns runs;
  runs.firings = 61;
  runs.add(10);
  EXPECT_EQ(runs.cost(kClock), 0);
}

TEST(EcbRuns, AnInterruptedFiringCountsAsALongOne) {
  EcbRuns runs;
  runs.firings = 2;
  runs.add(100);
  runs.add(1'000'000);
  EXPECT_EQ(runs.ticks, 100 + 100 * EcbRuns::kMostTimesLeast);
}

TEST(EcbRuns, OfTwoContextsAddUp) {
  EcbRuns runs, more;
  runs.firings = 100, more.firings = 200;
  runs.add(60);
  more.add(100);
  runs += more;
  EXPECT_EQ(runs.firings, 300u);
  EXPECT_EQ(runs.least, 60u);
  EXPECT_EQ(runs.cost(kClock), 300 * 60);
  more.add(2000);  // its own shortest is 100
  EXPECT_EQ(more.ticks, 100 + 1600u);
}

}  // namespace
}  // namespace dvm::runtime
