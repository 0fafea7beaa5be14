#include "lab/noise/poll_times.h"

#include <gtest/gtest.h>

namespace dvm::lab::noise {
namespace {

constexpr double kNs = 1e-6;

TEST(PollTimes, OfNoneThereIsNothing) { EXPECT_EQ(time_of({}), 0); }

TEST(PollTimes, EmptyLooksAndFullOnesCountAsTheyAre) {
  std::vector<TimedPoll> polls;
  for (int i = 0; i < 100; i++) {
    polls.push_back({10'000, 0, true});
    polls.push_back({13'000, 50, i % 4 == 0});  // fewer of these are quiet
  }
  for (TimedPoll& poll : polls)
    if (!poll.is_quiet) poll.ns *= 2;
  EXPECT_NEAR(time_of(polls), 100 * 10'000 + 100 * 13'000, kNs);
}

TEST(PollTimes, ThoseThatReadBuffersAreAKindOfTheirOwn) {
  std::vector<TimedPoll> polls(100, {10'000, 50, true});
  for (int i = 0; i < 50; i++) polls[2 * i] = {90'000, 50, i % 2 == 0, 1};
  for (TimedPoll& poll : polls)
    if (!poll.is_quiet) poll.ns *= 2;
  EXPECT_NEAR(time_of(polls), 50 * 10'000 + 50 * 90'000, kNs);
}

TEST(PollTimes, WhereAllHandledTheSameTheMeanCounts) {
  std::vector<TimedPoll> polls(100, {20'000, 1000, false});
  for (int i = 0; i < 30; i++) polls[i] = {10'000, 1000, true};
  EXPECT_NEAR(time_of(polls), 100 * 10'000, kNs);
}

TEST(PollTimes, OneThatWasInterruptedIsLeftOut) {
  std::vector<TimedPoll> polls(100, {10'000, 1000, true});
  polls[50].ns = 4e6;
  polls[99] = {1000, 10, true};
  EXPECT_NEAR(time_of(polls), 99 * 10'000 + 1000, 10);
}

TEST(PollTimes, OneDuringWhichAStrangerCameAndWentIsLeftOut) {
  std::vector<TimedPoll> polls;
  for (int i = 0; i < 100; i++) {
    const double firings = 500 + 10 * i, ns = 5000 + 10 * firings;
    polls.push_back({i % 10 == 3 ? 1.7 * ns : ns, firings, true});
  }
  EXPECT_NEAR(time_of(polls), 100 * (5000 + 10 * 995), kNs * 1e3);
  for (TimedPoll& poll : polls) poll.is_quiet = false;  // where all were disturbed, there is no telling
  EXPECT_GT(time_of(polls), 1.05 * 100 * (5000 + 10 * 995));
}

TEST(PollTimes, OfLooksThatAreAlikeTheQuickestCount) {
  EXPECT_EQ(time_of_replay({}), 0);
  std::vector<TimedPoll> polls(100, {20'000, 1000, false});
  for (int i = 0; i < 30; i++) polls[i] = {i % 2 == 0 ? 10'000.0 : 18'000.0, 1000, true};  // of some it was so between, too
  polls.push_back({500, 0, true});
  EXPECT_NEAR(time_of_replay(polls), 100 * 10'000, kNs);
}

TEST(PollTimes, WhatTheConsumerDidIsWhatItsQuickestStepsTook) {
  std::vector<TimedPoll> polls(200, {20'000, 1000, false});
  for (size_t i = 0; i < 100; i++) polls[i] = {10'000, 1000, i % 2 == 0};
  for (size_t i = 100; i < 200; i++) {  // a read of 3000 steps, or two of them
    const bool is_quiet = i % 3 == 0;
    const double reads = i % 2 == 0 ? 1 : 2, consumer = reads * (is_quiet ? 15'000 : 40'000);
    polls[i] = {(is_quiet ? 10'000 : 20'000) + consumer, 1000, is_quiet, reads, reads * 3000, consumer};
  }
  EXPECT_NEAR(time_of_replay(polls), 200 * 10'000 + 150 * 15'000, kNs);
  for (TimedPoll& poll : polls) poll.steps = 0;  // aggregations were read, and nothing printed
  EXPECT_NEAR(time_of_replay(polls), 200 * 10'000 + 150 * 15'000, kNs);
}

TEST(PollTimes, WhereTooFewWereQuietAllCount) {
  std::vector<TimedPoll> polls(100, {20'000, 1000, false});
  polls[7] = polls[8] = {10'000, 1000, true};
  EXPECT_NEAR(time_of(polls), 98 * 20'000 + 2 * 10'000, kNs);
}

}  // namespace
}  // namespace dvm::lab::noise
