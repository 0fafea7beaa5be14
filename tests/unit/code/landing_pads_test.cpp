// Landing pads of functions: of this very program, and of tables that are made here.
#include "runtime/code/landing_pads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace dvm::runtime {
namespace {

constexpr uint64_t kIndex = 0x1000, kCommon = 0x1100, kDescription = 0x1140, kCalls = 0x1180, kFunction = 0x2000;

class LandingPadsTest : public testing::Test {
 protected:
  LandingPadsTest() {
    put<uint32_t>(kIndex, 0x3b031b01);
    put<uint32_t>(kIndex + 8, 1);
    put<int32_t>(kIndex + 16, kDescription - kIndex);
    // "zPLR": a personality that a pointer names, tables of calls and code at distances of four bytes.
    put_bytes(kCommon, {28, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'P', 'L', 'R', 0, 1, 0x78, 16, 7, 0x9b, 1, 0, 0, 0, 0x1b, 0x1b});
    put<uint32_t>(kDescription, 28);
    put<uint32_t>(kDescription + 4, kDescription + 4 - kCommon);
    put<int32_t>(kDescription + 8, kFunction - (kDescription + 8));
    put<uint32_t>(kDescription + 12, 0x40);
    put_bytes(kDescription + 16, {4});
    put<int32_t>(kDescription + 17, kCalls - (kDescription + 17));
    // Three calls; the second has no landing pad.
    put_bytes(kCalls, {0xff, 0xff, 0x01, 13, 0, 5, 0x12, 0, 5, 5, 0, 0, 10, 5, 0xa0, 0x01, 1});
  }
  void put_bytes(uint64_t address, const std::vector<unsigned char>& bytes) {
    std::copy(bytes.begin(), bytes.end(), memory_.begin() + static_cast<std::ptrdiff_t>(address - kIndex));
  }
  template <class T>
  void put(uint64_t address, T value) {
    std::memcpy(memory_.data() + (address - kIndex), &value, sizeof value);
  }
  LandingPads find() const {
    return find_landing_pads(kIndex, [&](uint64_t address) {
      const bool is_there = address >= kIndex && address - kIndex < memory_.size();
      return is_there ? CodeBytes(memory_).subspan(address - kIndex) : CodeBytes();
    });
  }

  std::vector<unsigned char> memory_ = std::vector<unsigned char>(0x200);
};

using Addresses = std::vector<uint64_t>;

TEST_F(LandingPadsTest, AreThoseOfTheTableOfCalls) {
  EXPECT_EQ(find().addresses, (Addresses{kFunction + 0x12, kFunction + 0xa0}));
  EXPECT_TRUE(find().is_complete);
}

TEST_F(LandingPadsTest, OfAnotherFormAreNotComplete) {
  put_bytes(kIndex + 3, {0xff});
  EXPECT_FALSE(find().is_complete);
}

TEST_F(LandingPadsTest, OfATableThatIsCutShortAreNotComplete) {
  put_bytes(kCalls + 3, {0xff, 0xff, 0xff, 0x7f});
  EXPECT_FALSE(find().is_complete);
}

TEST_F(LandingPadsTest, AreNoneWithoutAnIndexOrWithoutTables) {
  EXPECT_TRUE(find_landing_pads(0, [](uint64_t) { return CodeBytes(); }).is_complete);
  put<int32_t>(kDescription + 17, 0);
  EXPECT_TRUE(find().addresses.empty());
  EXPECT_TRUE(find().is_complete);
}

// Each byte of the tables in turn has each of some values.
TEST_F(LandingPadsTest, OfAnyBytesAreRead) {
  for (size_t at = 0; at < memory_.size(); at++)
    for (const unsigned value : {0x00U, 0x01U, 0x10U, 0x7fU, 0x80U, 0xffU}) {
      const unsigned char before = std::exchange(memory_[at], static_cast<unsigned char>(value));
      EXPECT_LE(find().addresses.size(), memory_.size());
      memory_[at] = before;
    }
}

}  // namespace
}  // namespace dvm::runtime
