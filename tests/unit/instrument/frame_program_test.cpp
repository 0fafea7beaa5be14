// Call frame instructions, as compilers write them.

#include "runtime/symbol/frame_program.h"

#include <gtest/gtest.h>

#include <vector>

namespace dvm::runtime {
namespace {

using Bytes = std::vector<uint8_t>;

TEST(FrameProgram, AFramePointerTellsTheCaller) {
  EXPECT_FALSE(hides_caller(Bytes{0x41, 0x0e, 0x10, 0x86, 0x02, 0x43, 0x0d, 0x06, 0x5a, 0x0c, 0x07, 0x08}));
  EXPECT_FALSE(hides_caller(Bytes{0x41, 0x0c, 0x06, 0x10}));
  EXPECT_FALSE(hides_caller(Bytes{0x41, 0x0f, 0x03, 0x76, 0x78, 0x06}));  // realigned: at %rbp - 8
}

TEST(FrameProgram, AFrameWithoutPointerHidesTheCaller) {
  EXPECT_TRUE(hides_caller(Bytes{0x44, 0x0e, 0x10}));
  EXPECT_TRUE(hides_caller(Bytes{0x02, 0x80, 0x0e, 0x20, 0x86, 0x02}));
  EXPECT_TRUE(hides_caller(Bytes{0x41, 0x0c, 0x0a, 0x00}));  // %r10
}

TEST(FrameProgram, WhatHasNoFrameCallsNothing) {
  EXPECT_FALSE(hides_caller(Bytes{}));
  EXPECT_FALSE(hides_caller(Bytes{0x00, 0x00, 0x07, 0x10}));
  EXPECT_FALSE(hides_caller(Bytes{0x2e, 0x0e}));        // an operand that looks like an instruction
  EXPECT_FALSE(hides_caller(Bytes{0x86, 0x0e, 0xc6}));  // likewise
}

TEST(FrameProgram, TheLinkersStubsAreNoCallers) {
  EXPECT_FALSE(hides_caller(
      Bytes{0x0e, 0x10, 0x46, 0x0e, 0x18, 0x4a, 0x0f, 0x0b, 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}));
}

TEST(FrameProgram, WhatCannotBeReadHidesTheCaller) {
  EXPECT_TRUE(hides_caller(Bytes{0x3e}));
  EXPECT_TRUE(hides_caller(Bytes{0x0d}));
  EXPECT_TRUE(hides_caller(Bytes{0x0d, 0x86}));
  EXPECT_TRUE(hides_caller(Bytes{0x0f, 0xff, 0x7f, 0x76}));
  EXPECT_TRUE(hides_caller(Bytes{0x04, 0x00, 0x00}));
}

}  // namespace
}  // namespace dvm::runtime
