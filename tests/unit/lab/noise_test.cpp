// Makes times of samples, and separates quiet from disturbed ones.

#include <gtest/gtest.h>

#include "lab/noise/core_share.h"
#include "lab/noise/interrupt_time.h"
#include "lab/noise/middle.h"
#include "lab/noise/quiet_time.h"

namespace dvm::lab::noise {
namespace {

// No processor that dvm runs on does less than one cycle in ten ticks of its counter, or more than ten.
TEST(Noise, TimesAreTakenAsAtOneSpeedOfTheCore) {
  const double speed = core_speed_over(1'000'000);
  EXPECT_GT(speed, 0.1);
  EXPECT_LT(speed, 10);
}

TEST(Noise, PiecesAreGivenAtTheSpeedOfTimes) {
  const double speed = read_core().speed;
  give_times_at(speed / 100);
  EXPECT_GT(QuietPiece().end(1).value, 10);
  give_times_at(speed * 100);
  EXPECT_LT(QuietPiece().end(1).value, 0.1);
  give_times_at(0);
  EXPECT_EQ(QuietPiece().end(1).value, 1);
}

TEST(Noise, WhatWasInterruptedIsNoPartOfAQuietTime) {
  QuietTime time;
  EXPECT_EQ(time.each(), 0);
  for (int i = 0; i < 100; i++) {
    time.begin();
    time.end(i == 40 ? 1e9 : 30, 3);
  }
  time.begin();
  time.end(1e9, 0);  // nothing was done
  EXPECT_DOUBLE_EQ(time.each(), 10);
  EXPECT_DOUBLE_EQ(time.usual(), 10);
  EXPECT_GE(time.quiet_share(), 0);
  EXPECT_LE(time.quiet_share(), 1);
}

bool is_quiet(CoreGauge& gauge, double near, double far) { return gauge.is_quiet({{near, far}, 1}); }

TEST(Noise, ACoreOfOnesOwnIsToldByItsLowestReadings) {
  CoreGauge gauge;
  for (int i = 0; i < 7; i++) EXPECT_FALSE(is_quiet(gauge, 140, 240));  // nothing is known of this processor
  EXPECT_TRUE(is_quiet(gauge, 140, 240));
  for (int i = 0; i < 7; i++) EXPECT_FALSE(is_quiet(gauge, 113, 148));
  EXPECT_TRUE(is_quiet(gauge, 113, 148));  // it does better
  EXPECT_FALSE(is_quiet(gauge, 140, 240));
  EXPECT_FALSE(is_quiet(gauge, 113, 240));  // at one of the distances alone
  EXPECT_FALSE(is_quiet(gauge, 140, 148));
  EXPECT_FALSE(is_quiet(gauge, 60, 80));  // something happened to the chain
  EXPECT_TRUE(is_quiet(gauge, 114, 150));
}

TEST(Noise, AGaugeThatWasToldTakesNoStrangerForNobody) {
  CoreGauge gauge{{{{.least = 113}, {.least = 148}}}};
  for (int i = 0; i < 20; i++) EXPECT_FALSE(is_quiet(gauge, 140, 240));
  EXPECT_TRUE(is_quiet(gauge, 114, 149));
}

TEST(Noise, ACoreIsReadInCycles) {
  const CoreReading reading = read_core();
  for (const double cycles : reading.cycles) {
    EXPECT_GT(cycles, 20);
    EXPECT_LT(cycles, 100'000);
  }
  EXPECT_GT(reading.speed, 0.01);
  EXPECT_LT(reading.speed, 100);
}

TEST(Noise, TheUsualInterruptIsNotMovedByOthers) {
  Gaps gaps;
  EXPECT_EQ(gaps.usual(), 0);
  for (int i = 0; i < 100; i++) gaps.add(45'010 + i % 20);
  EXPECT_NEAR(gaps.usual(), 45'020, 50);
  for (int i = 0; i < 5; i++) gaps.add(90'000);  // the kernel's own
  for (int i = 0; i < 300; i++) gaps.add(600);   // the host's
  gaps.add(199'999);
  EXPECT_NEAR(gaps.usual(), 45'020, 50);
}

TEST(Noise, TheMiddleIsNotMovedByOneThatIsFarAway) {
  EXPECT_EQ(middle({3, 1, 2, 1000, 2}).median, 2);
  EXPECT_EQ(middle({3, 1, 2, 1000, 2}).distance, 1);
  EXPECT_EQ(middle({}).median, 0);
}

TEST(Noise, OfTimesTheSlowerHalfCountsForNothing) {
  EXPECT_EQ(quiet_middle({3, 900, 2, 1000, 4, 800}).median, 3);
  EXPECT_EQ(quiet_middle({7}).median, 7);
  EXPECT_EQ(quiet_middle({}).median, 0);
}

}  // namespace
}  // namespace dvm::lab::noise
