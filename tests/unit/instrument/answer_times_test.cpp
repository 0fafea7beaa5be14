#include "runtime/instrument/agent/answer_times.h"

#include <gtest/gtest.h>

#include <vector>

namespace dvm::runtime {
namespace {

constexpr uint64_t kMs = 1'000'000;

TEST(AnswerTimes, AreLaterEachTime) {
  AnswerTimes times;
  std::vector<uint64_t> answers;
  for (uint64_t ms = 0; ms < 4000; ms++) {
    if (!times.is_due(ms * kMs)) continue;
    answers.push_back(ms);
    times.note_answer(ms * kMs);
  }
  EXPECT_EQ(answers, (std::vector<uint64_t>{0, 20, 60, 140, 300, 620, 1260, 2260, 3260}));
}

// What an answer takes is no part of the pause.
TEST(AnswerTimes, CountFromTheEndOfAnAnswer) {
  AnswerTimes times;
  EXPECT_TRUE(times.is_first());
  times.note_answer(130 * kMs);
  EXPECT_FALSE(times.is_first());
  EXPECT_FALSE(times.is_due(149 * kMs));
  EXPECT_TRUE(times.is_due(150 * kMs));
}

TEST(AnswerTimes, AreForgottenASecondAfterAnotherWasPossible) {
  AnswerTimes times;
  times.note_answer(0);
  times.forget_old(1019 * kMs);
  EXPECT_FALSE(times.is_first());
  times.forget_old(1020 * kMs);
  EXPECT_TRUE(times.is_first());
}

}  // namespace
}  // namespace dvm::runtime
