#include "lab/noise/look_times.h"

#include <gtest/gtest.h>

namespace dvm::lab::noise {
namespace {

constexpr double kNs = 1e-6;

TEST(LookTimes, OfNoneThereIsNothing) { EXPECT_EQ(time_of({}), 0); }

TEST(LookTimes, EmptyLooksAndFullOnesCountAsTheyAre) {
  std::vector<Look> looks;
  for (int i = 0; i < 100; i++) {
    looks.push_back({10'000, 0, true});
    looks.push_back({13'000, 50, i % 4 == 0});  // fewer of these are quiet
  }
  for (Look& look : looks)
    if (!look.is_quiet) look.ns *= 2;
  EXPECT_NEAR(time_of(looks), 100 * 10'000 + 100 * 13'000, kNs);
}

TEST(LookTimes, ThoseThatReadBuffersAreAKindOfTheirOwn) {
  std::vector<Look> looks(100, {10'000, 50, true});
  for (int i = 0; i < 50; i++) looks[2 * i] = {90'000, 50, i % 2 == 0, 1};
  for (Look& look : looks)
    if (!look.is_quiet) look.ns *= 2;
  EXPECT_NEAR(time_of(looks), 50 * 10'000 + 50 * 90'000, kNs);
}

TEST(LookTimes, WhereAllHandledTheSameTheMeanCounts) {
  std::vector<Look> looks(100, {20'000, 1000, false});
  for (int i = 0; i < 30; i++) looks[i] = {10'000, 1000, true};
  EXPECT_NEAR(time_of(looks), 100 * 10'000, kNs);
}

TEST(LookTimes, OneThatWasInterruptedIsLeftOut) {
  std::vector<Look> looks(100, {10'000, 1000, true});
  looks[50].ns = 4e6;
  looks[99] = {1000, 10, true};
  EXPECT_NEAR(time_of(looks), 99 * 10'000 + 1000, 10);
}

TEST(LookTimes, OneDuringWhichAStrangerCameAndWentIsLeftOut) {
  std::vector<Look> looks;
  for (int i = 0; i < 100; i++) {
    const double firings = 500 + 10 * i, ns = 5000 + 10 * firings;
    looks.push_back({i % 10 == 3 ? 1.7 * ns : ns, firings, true});
  }
  EXPECT_NEAR(time_of(looks), 100 * (5000 + 10 * 995), kNs * 1e3);
  for (Look& look : looks) look.is_quiet = false;  // where all were disturbed, there is no telling
  EXPECT_GT(time_of(looks), 1.05 * 100 * (5000 + 10 * 995));
}

TEST(LookTimes, OfLooksThatAreAlikeTheQuickestCount) {
  EXPECT_EQ(time_of_replay({}), 0);
  std::vector<Look> looks(100, {20'000, 1000, false});
  for (int i = 0; i < 30; i++) looks[i] = {i % 2 == 0 ? 10'000.0 : 18'000.0, 1000, true};  // of some it was so between, too
  looks.push_back({500, 0, true});
  EXPECT_NEAR(time_of_replay(looks), 100 * 10'000, kNs);
}

TEST(LookTimes, WhatTheConsumerDidIsWhatItsQuickestStepsTook) {
  std::vector<Look> looks(200, {20'000, 1000, false});
  for (size_t i = 0; i < 100; i++) looks[i] = {10'000, 1000, i % 2 == 0};
  for (size_t i = 100; i < 200; i++) {  // a read of 3000 steps, or two of them
    const bool is_quiet = i % 3 == 0;
    const double reads = i % 2 == 0 ? 1 : 2, consumer = reads * (is_quiet ? 15'000 : 40'000);
    looks[i] = {(is_quiet ? 10'000 : 20'000) + consumer, 1000, is_quiet, reads, reads * 3000, consumer};
  }
  EXPECT_NEAR(time_of_replay(looks), 200 * 10'000 + 150 * 15'000, kNs);
  for (Look& look : looks) look.steps = 0;  // aggregations were read, and nothing printed
  EXPECT_NEAR(time_of_replay(looks), 200 * 10'000 + 150 * 15'000, kNs);
}

TEST(LookTimes, WhereTooFewWereQuietAllCount) {
  std::vector<Look> looks(100, {20'000, 1000, false});
  looks[7] = looks[8] = {10'000, 1000, true};
  EXPECT_NEAR(time_of(looks), 98 * 20'000 + 2 * 10'000, kNs);
}

}  // namespace
}  // namespace dvm::lab::noise
