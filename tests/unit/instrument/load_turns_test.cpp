#include "runtime/instrument/agent/load_turns.h"

#include <gtest/gtest.h>

namespace dvm::runtime {
namespace {

uint64_t late(uint64_t late, uint64_t begun, uint64_t before) {
  inside::LoadTurns turns;
  turns.late = late, turns.begun = begun;
  return late_since(turns, before);
}

TEST(LoadTurns, AreLateOnce) {
  EXPECT_EQ(late(0, 4, 0), 0u);
  EXPECT_EQ(late(3, 4, 1), 2u);
  EXPECT_EQ(late(4, 4, 3), 1u);
  EXPECT_EQ(late(3, 4, 3), 0u);
}

TEST(LoadTurns, AreNotLateByAForgedCount) {
  EXPECT_EQ(late(5, 4, 3), 0u);
  EXPECT_EQ(late(UINT64_MAX, 4, 3), 0u);
  EXPECT_EQ(late(2, 4, 3), 0u);
}

}  // namespace
}  // namespace dvm::runtime
