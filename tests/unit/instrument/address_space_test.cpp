// Free address space of a process that an agent can use.

#include "runtime/agent/address_space.h"

#include <gtest/gtest.h>

namespace dvm::runtime {
namespace {

constexpr uint64_t kPage = 4096, kCode = 0x555555554000, kLibrary = 0x7ffff7000000;

MemoryMapping mapping(uint64_t begin, uint64_t end, std::string path = {}) {
  return {{begin, end}, false, std::move(path), false};
}

// A program with a heap, a library far away, and a stack.
std::vector<MemoryMapping> usual_process() {
  return {mapping(kCode, kCode + 16 * kPage), mapping(kCode + 20 * kPage, kCode + 40 * kPage, "[heap]"),
          mapping(kLibrary, kLibrary + 100 * kPage), mapping(0x7ffffffde000, 0x7ffffffff000, "[stack]")};
}

TEST(AddressSpace, TakesTheNearestGapWithAPageAtEitherEnd) {
  const AddressRange near{kCode + 15 * kPage, kCode + 16 * kPage};
  EXPECT_EQ(find_gap(usual_process(), near, 2 * kPage), kCode + 17 * kPage);
  EXPECT_EQ(find_gap(usual_process(), near, 3 * kPage), kCode - 4 * kPage);  // what is left above is too small
}

TEST(AddressSpace, LeavesStacksRoomToGrow) {
  const std::vector<MemoryMapping> only_stack = {mapping(kCode, kCode + kPage),
                                                 mapping(kCode + 5 * kPage, kCode + 6 * kPage, "[stack]")};
  EXPECT_EQ(find_gap(only_stack, {kCode, kCode + kPage}, 2 * kPage), kCode - 3 * kPage);
}

TEST(AddressSpace, CodeMustBeWithinReach) {
  const AddressRange near{kCode, kCode + kPage};
  EXPECT_TRUE(find_gap(usual_process(), near, kReach / 2));
  EXPECT_FALSE(find_gap(usual_process(), near, kReach));
}

// Programs that are not position-independent have 4 MiB below them, and a gap of many TiB above.
TEST(AddressSpace, CodeMayLieInTheMidstOfALargeGap) {
  constexpr uint64_t kLow = 0x400000, kBytes = uint64_t{8} << 20;
  const AddressRange near{kLow, kLow + 16 * kPage};
  const std::vector<MemoryMapping> low = {mapping(near.begin, near.end), mapping(kLow + 40 * kPage, kLow + 60 * kPage, "[heap]"),
                                          mapping(kLibrary, kLibrary + 100 * kPage)};
  EXPECT_LT(find_gap(low, near, 2 * kPage), kLow);
  const auto found = find_gap(low, near, kBytes);
  ASSERT_TRUE(found);
  EXPECT_EQ(*found % kPage, 0U);
  EXPECT_LT(*found + kBytes - near.begin, kReach);
  EXPECT_GT(*found, near.begin + kReach - kBytes - 3 * kPage) << "the heap may grow";
}

TEST(AddressSpace, DataLieFarFromWhatTheProcessMapsNext) {
  constexpr uint64_t kBytes = uint64_t{4} << 30, kFarBelow = uint64_t{32} << 30;
  const auto found = find_far_gap(usual_process(), kBytes);
  ASSERT_TRUE(found);
  EXPECT_EQ(*found % kPage, 0U);
  EXPECT_EQ(*found + kBytes, kLibrary - kFarBelow) << "where sanitizers allow memory";
  EXPECT_FALSE(find_far_gap(usual_process(), kCode));
}

TEST(AddressSpace, DataLieInTheMidstOfTheLargestGapIfNoOtherIsLarge) {
  constexpr uint64_t kBegin = 0x700000000000, kEnd = kBegin + (uint64_t{80} << 30), kBytes = uint64_t{4} << 30;
  const std::vector<MemoryMapping> dense = {mapping(kPage, kBegin), mapping(kEnd, 0x7ffffffff000, "[stack]")};
  const auto found = find_far_gap(dense, kBytes);
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, kBegin + (kEnd - kBegin - kBytes) / 2);
}

}  // namespace
}  // namespace dvm::runtime
