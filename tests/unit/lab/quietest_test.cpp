#include <gtest/gtest.h>

#include "lab/noise/quiet_time.h"

namespace dvm::lab::noise {
namespace {

struct Sample {
  int number = 0;
  double quiet = 0;
};

// Takes so many samples, which are as quiet as `quiet` says of the how manieth they are.
std::vector<int> numbers_of(size_t wanted, double (*quiet)(int number), int& taken) {
  taken = 0;
  const auto samples = quietest<Sample>(wanted, [&] { return Sample{taken, quiet(taken++)}; });
  std::vector<int> numbers;
  for (const Sample& sample : samples) numbers.push_back(sample.number);
  return numbers;
}

TEST(Quietest, OnAQuietMachineNoneIsRepeated) {
  int taken = 0;
  EXPECT_EQ(numbers_of(
                4, [](int) { return 1.0; }, taken),
            (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(taken, 4);
}

TEST(Quietest, OthersAreRepeatedUntilThereAreEnough) {
  int taken = 0;
  EXPECT_EQ(numbers_of(
                3, [](int number) { return number % 2 == 1 ? 0.5 : 0.1; }, taken),
            (std::vector{1, 3, 5}));
  EXPECT_EQ(taken, 6);
}

TEST(Quietest, ButNotForEver) {
  int taken = 0;
  EXPECT_EQ(numbers_of(
                2, [](int number) { return number == 4 ? 0.1 : 0; }, taken),
            (std::vector{4, 0}));
  EXPECT_EQ(taken, 6);
}

}  // namespace
}  // namespace dvm::lab::noise
