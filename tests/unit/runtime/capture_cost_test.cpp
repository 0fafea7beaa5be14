// Prices of captures and polls.
#include <gtest/gtest.h>

#include <optional>

#include "runtime/cost/model.h"

namespace dvm::runtime {
namespace {

TEST(CaptureCost, OfTheProcessIsThatOfWhatTheSiteHas) {
  vm::Profile profile;
  profile.set("capture/command_line"_row, {100, 0, 0});
  profile.set("capture/ancestors"_row, {200, 0, 0});
  profile.set("capture/directory"_row, {400, 0, 0});
  profile.set("capture/number"_row, {800, 0, 0});
  Prices prices(profile, {});
  CaptureNeeds needs;
  needs.command = needs.ancestors = needs.directory = true;
  needs.process_numbers = 1u << 2 | 1u << 5 | 1u << 16;  // no record has the last
  const auto clocks = [&](std::optional<SiteKind> at) { return capture_cost(prices, prices, needs, at).thread.clocks; };
  EXPECT_DOUBLE_EQ(clocks(SiteKind::tracepoint), 100 + 200 + 400 + 2 * 800);
  EXPECT_DOUBLE_EQ(clocks(SiteKind::entry), 100 + 200 + 400 + 2 * 800);
  EXPECT_DOUBLE_EQ(clocks(SiteKind::timer), 200 + 400 + 2 * 800);
  EXPECT_DOUBLE_EQ(clocks(std::nullopt), 2 * 800);
  needs.owner = needs.parent = true;
  EXPECT_DOUBLE_EQ(clocks(std::nullopt), 5 * 800);
}

// A timer has no command line.
TEST(CaptureCost, BytesInTheRingAreThoseThatTheSiteHas) {
  CaptureNeeds needs;
  needs.thread = needs.ancestors = true;
  const double without = ring_bytes(needs, 16, SiteKind::timer);
  EXPECT_DOUBLE_EQ(ring_bytes(needs, 16), without);
  needs.command = true;
  EXPECT_DOUBLE_EQ(ring_bytes(needs, 16, SiteKind::timer), without);
  EXPECT_GT(ring_bytes(needs, 16), without);
}

TEST(PollCost, OfLanesIsThatOfUprobesOnlyWhereItHasNoPrice) {
  vm::Profile profile;
  profile.set("consumer/context_switch"_row, {10, 0, 0});
  const auto cost = [&](Row poll) {
    Prices prices(profile, {});
    return poll_cost(prices, 2, poll).clocks;
  };
  EXPECT_DOUBLE_EQ(cost("consumer/poll_lanes"_row), 2 * 10);
  profile.set("consumer/poll"_row, {100, 5, 0});
  EXPECT_DOUBLE_EQ(cost("consumer/poll_lanes"_row), 100 + 2 * 5);
  profile.set("consumer/poll_lanes"_row, {300, 5, 0});
  EXPECT_DOUBLE_EQ(cost("consumer/poll_lanes"_row), 300 + 2 * 5);
  EXPECT_DOUBLE_EQ(cost(kPoll), 100 + 2 * 5);
}

TEST(CaptureCost, WhatIsCapturedIsPricedByItsSize) {
  vm::Profile profile;
  profile.set("capture/argument"_row, {6, 0, 0});
  profile.set("capture/string"_row, {40, 0.25, 0});
  vm::Sizes sizes;
  sizes.expected = 20;
  Prices prices(profile, sizes);
  CaptureNeeds needs;
  needs.args = 0b101;
  needs.add({Word(0), true, 0, 256, {}});
  EXPECT_DOUBLE_EQ(capture_cost(prices, prices, needs).thread.clocks, 2 * 6 + 40 + 20 * 0.25);
  EXPECT_TRUE(prices.missing().empty());
  needs.time = true;
  capture_cost(prices, prices, needs);
  EXPECT_EQ(prices.missing(), std::set<std::string>{"capture/time"});
}

}  // namespace
}  // namespace dvm::runtime
