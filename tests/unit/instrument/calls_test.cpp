// Open calls of a thread: which of them have returned, and the debug registers that watch for it.

#include "runtime/instrument/breakpoint/calls.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

namespace dvm::runtime {
namespace {

template <int N>
[[gnu::noinline]] void place() {
  asm volatile("" ::"i"(N));
}

constexpr uint64_t kWord = sizeof(uint64_t), kStack = 0x7000'0000, kFar = 16 << 20;

class CallsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!DebugRegister::set(gettid(), at(place<0>))) GTEST_SKIP() << debug_register_reason(errno);
  }
  static uint64_t at(void (*function)()) { return reinterpret_cast<uint64_t>(function); }
  bool enter(uint64_t returns_to, uint64_t stack, uint64_t cookie, uint64_t function = 1) {
    return calls_.add(gettid(), {returns_to, stack, function, cookie}, hits_);
  }
  // The cookies of the calls that have returned there.
  std::vector<uint64_t> returned(uint64_t address, uint64_t stack) {
    std::vector<uint64_t> cookies;
    calls_.take(address, stack, [&](const OpenCall& call) { cookies.push_back(call.cookie); });
    return cookies;
  }

  Calls calls_;
  uint64_t hits_ = 0;
};

using Cookies = std::vector<uint64_t>;

TEST_F(CallsTest, ReturnWhereTheirReturnAddressWas) {
  enter(at(place<0>), kStack, 1), enter(at(place<1>), kStack - 64, 2);
  EXPECT_TRUE(calls_.watches(at(place<1>)));
  EXPECT_EQ(returned(at(place<1>), kStack - 64 + kWord), Cookies{2});
  EXPECT_TRUE(returned(at(place<1>), kStack - 64 + kWord).empty());
  EXPECT_EQ(returned(at(place<0>), kStack + kWord), Cookies{1});
}

TEST_F(CallsTest, ThatWereLeftDoNotReturn) {
  enter(at(place<0>), kStack, 1), enter(at(place<0>), kStack - 64, 2), enter(at(place<1>), kStack - 128, 3);
  EXPECT_EQ(returned(at(place<0>), kStack + kWord), Cookies{1});
  EXPECT_TRUE(returned(at(place<0>), kStack - 64 + kWord).empty());
}

// Of the same frame, as by a tail call.
TEST_F(CallsTest, OfOneFrameReturnTogether) {
  enter(at(place<0>), kStack, 1), enter(at(place<0>), kStack, 2);
  EXPECT_EQ(returned(at(place<0>), kStack + kWord), (Cookies{2, 1}));
}

TEST_F(CallsTest, OfAnotherStackStayOpen) {
  enter(at(place<0>), kStack, 1);
  EXPECT_TRUE(returned(at(place<0>), kStack + kFar).empty());
  EXPECT_TRUE(returned(at(place<0>), kStack).empty());
  EXPECT_EQ(returned(at(place<0>), kStack + kWord), Cookies{1});
}

TEST_F(CallsTest, OfAnotherStackAreNotLeft) {
  enter(at(place<0>), kStack, 1);
  EXPECT_EQ(calls_.leave(getpid(), {at(place<1>), kStack + kFar, 1, 0}), 0u);
  EXPECT_EQ(returned(at(place<0>), kStack + kWord), Cookies{1});
}

TEST_F(CallsTest, DoNotReturnElsewhere) {
  enter(at(place<0>), kStack, 1);
  EXPECT_TRUE(returned(at(place<1>), kStack + kWord).empty());
}

TEST_F(CallsTest, ToOnePlaceShareARegisterAndAreLimited) {
  constexpr uint64_t kMost = 4096;
  for (uint64_t i = 0; i < kMost; i++) ASSERT_TRUE(enter(at(place<0>), kStack - kWord * i, i));
  EXPECT_FALSE(enter(at(place<0>), kStack - kWord * kMost, kMost));
  EXPECT_EQ(calls_.registers().size(), 1u);
}

TEST_F(CallsTest, OfTheSameFunctionAndFrameAreCountedWhenLeft) {
  enter(at(place<0>), kStack, 1, 1), enter(at(place<0>), kStack, 2, 2);
  EXPECT_EQ(calls_.leave(getpid(), {at(place<0>), kStack, 1, 0}), 0u);  // the last one is of another function
  EXPECT_EQ(calls_.leave(getpid(), {at(place<0>), kStack, 2, 0}), 1u);
  EXPECT_EQ(returned(at(place<0>), kStack + kWord), Cookies{1});
}

TEST_F(CallsTest, AreLeftOnceTheirReturnAddressIsGone) {
  const uint64_t frames[] = {at(place<0>), 0, 0};  // a frame below another one
  const auto stack = reinterpret_cast<uint64_t>(&frames[0]);
  enter(at(place<0>), stack, 1);
  EXPECT_EQ(calls_.leave(getpid(), {at(place<1>), stack + 2 * kWord, 1, 0}), 0u);
  EXPECT_EQ(returned(at(place<0>), stack + kWord), Cookies{1});
  enter(at(place<1>), stack, 2);  // its word says something else
  EXPECT_EQ(calls_.leave(getpid(), {at(place<1>), stack + 2 * kWord, 1, 0}), 0u);
  EXPECT_TRUE(returned(at(place<1>), stack + kWord).empty());
}

TEST_F(CallsTest, TakeTheRegisterOfAnIdlePlaceAndItsCount) {
  void (*const places[])() = {place<0>, place<1>, place<2>, place<3>};
  for (uint64_t i = 0; i < kDebugRegisters; i++) ASSERT_TRUE(enter(at(places[i]), kStack - 64 * i, i)) << "taken by others";
  EXPECT_FALSE(enter(at(place<4>), kStack - 512, 4));  // all are in use
  place<3>(), place<3>();                              // the signal is ignored
  EXPECT_EQ(returned(at(place<3>), kStack - 64 * 3 + kWord), Cookies{3});
  EXPECT_EQ(hits_, 0u);
  EXPECT_TRUE(calls_.watches(at(place<3>)));  // for later calls
  EXPECT_TRUE(enter(at(place<4>), kStack - 512, 4));
  EXPECT_EQ(hits_, 2u);
  EXPECT_FALSE(calls_.watches(at(place<3>)));
  EXPECT_EQ(calls_.registers().size(), kDebugRegisters);
}

}  // namespace
}  // namespace dvm::runtime
