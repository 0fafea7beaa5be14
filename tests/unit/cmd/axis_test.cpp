#include "cmd/axis.h"

#include <gtest/gtest.h>

namespace dvm::cmd {
namespace {

using Ticks = std::vector<double>;

TEST(Axis, ALinearOneBeginsAtZeroAndHasRoundTicks) {
  const Axis axis = Axis::linear(1234);
  EXPECT_EQ(axis.ticks(), (Ticks{0, 500, 1000}));
  EXPECT_DOUBLE_EQ(axis.of(617, 100), 50);
  EXPECT_DOUBLE_EQ(axis.of(-1, 100), 0);
  EXPECT_DOUBLE_EQ(axis.of(5000, 100), 100);
  EXPECT_EQ(axis.title("clocks"), "clocks");
}

TEST(Axis, ALogarithmicOneSaysSoAndHasPowersOfTenAsTicks) {
  const Axis axis = Axis::logarithmic(5, 20000);
  ASSERT_EQ(axis.ticks().size(), 4u);
  EXPECT_NEAR(axis.ticks()[0], 10, 1e-6);
  EXPECT_NEAR(axis.ticks()[3], 10000, 1e-6);
  EXPECT_EQ(axis.title("ns"), "ns (logarithmic)");
  EXPECT_DOUBLE_EQ(axis.of(5, 100), 0);
  EXPECT_NEAR(axis.of(20000, 100), 100, 1e-9);
  EXPECT_NEAR(Axis::logarithmic(1, 100).of(10, 100), 50, 1e-9);
  EXPECT_NEAR(Axis::logarithmic(1e-9, 1e307).of(1e307, 100), 100, 1e-9);
}

TEST(Axis, FewDecadesHaveTicksBetweenThem) {
  const Ticks ticks = Axis::logarithmic(9, 60).ticks();
  ASSERT_EQ(ticks.size(), 3u);
  EXPECT_NEAR(ticks[1], 20, 1e-6);
}

TEST(Axis, NothingToShowStillHasAnAxis) {
  EXPECT_FALSE(Axis::linear(0).ticks().empty());
  EXPECT_DOUBLE_EQ(Axis::linear(0).of(0, 100), 0);
  EXPECT_LT(Axis::logarithmic(0, 1e300).ticks().size(), 60u);
  EXPECT_LT(Axis::linear(1e-300).ticks().size(), 9u);
}

TEST(Legend, NamesAreEscaped) {
  const std::string svg = draw_legend(0, 0, {"a<b", "c"});
  EXPECT_NE(svg.find("a&#60;b"), std::string::npos);
  EXPECT_NE(svg.find(std::string(drawing_colour(1))), std::string::npos);
}

}  // namespace
}  // namespace dvm::cmd
