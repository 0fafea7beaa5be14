// The scheduler keeps the slice, and gives children the usual one.
#include "common/short_slice.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <thread>

namespace dvm {
namespace {

// struct sched_attr as words, of which that at index 3 is the slice in ns.
uint64_t slice() {
  uint64_t words[6] = {};
  return syscall(SYS_sched_getattr, 0, words, sizeof words, 0) == 0 ? words[3] : 0;
}

TEST(ShortSlice, IsThatOfTheThreadAlone) {
  const uint64_t usual = slice();
  if (usual == 0) GTEST_SKIP() << "this kernel does not tell slices";
  uint64_t asked = 0, of_child = 0;
  std::thread([&] {
    ASSERT_TRUE(ask_for_short_slice());
    asked = slice();
    std::thread([&] { of_child = slice(); }).join();
  }).join();
  EXPECT_LT(asked, usual);
  EXPECT_EQ(of_child, usual);
  EXPECT_EQ(slice(), usual);
}

}  // namespace
}  // namespace dvm
