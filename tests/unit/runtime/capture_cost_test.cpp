// Prices of captures and polls.
#include <gtest/gtest.h>

#include "runtime/cost/model.h"

namespace dvm::runtime {
namespace {

TEST(CaptureCost, OfTheProcessIsThatOfEventsOfTheKernel) {
  vm::Profile profile;
  profile.set("capture/command_line"_row, {100, 0, 0});
  profile.set("capture/ancestors"_row, {200, 0, 0});
  profile.set("capture/directory"_row, {400, 0, 0});
  profile.set("capture/number"_row, {800, 0, 0});
  Prices prices(profile, {});
  CaptureNeeds needs;
  needs.command = needs.ancestors = needs.directory = true, needs.process_numbers = 0b101;
  EXPECT_DOUBLE_EQ(capture_cost(prices, prices, needs, false).thread.clocks, 100 + 200 + 400 + 2 * 800);
  EXPECT_DOUBLE_EQ(capture_cost(prices, prices, needs).thread.clocks, 0);
}

TEST(PollCost, OfLanesIsThatOfUprobesOnlyWhereItHasNoPrice) {
  vm::Profile profile;
  profile.set("consumer/context_switch"_row, {10, 0, 0});
  const auto cost = [&](Poll poll) {
    Prices prices(profile, {});
    return look_cost(prices, 2, poll).clocks;
  };
  EXPECT_DOUBLE_EQ(cost(Poll::lanes), 2 * 10);
  profile.set("consumer/look"_row, {100, 5, 0});
  EXPECT_DOUBLE_EQ(cost(Poll::lanes), 100 + 2 * 5);
  profile.set("consumer/look_lanes"_row, {300, 5, 0});
  EXPECT_DOUBLE_EQ(cost(Poll::lanes), 300 + 2 * 5);
  EXPECT_DOUBLE_EQ(cost(Poll::usual), 100 + 2 * 5);
}

}  // namespace
}  // namespace dvm::runtime
