// Damaged program files behind right checksums: reading them must end with an error, or with a program whose DIF the verifier
// takes or refuses.

#include <gtest/gtest.h>

#include "tests/fuzz/read_program.h"
#include "tests/support/sample_program.h"

namespace dvm::dif {
namespace {

using fuzz::kProgramHead;

TEST(ProgramFileFuzz, DamagedBehindRightChecksums) {
  const std::string whole = to_bytes(sample_program());
  std::mt19937 random(7);
  unsigned taken = 0, refused = 0;
  for (int i = 0; i < 20000; i++) {
    std::string bytes = fuzz::damage(whole, random, kProgramHead, whole.size());
    if (bytes.size() < kProgramHead) continue;
    fuzz::seal_program(bytes);
    (fuzz::read_program(bytes) ? taken : refused)++;
  }
  EXPECT_GT(refused, 5000u);
  EXPECT_GT(taken, 100u);
}

TEST(ProgramFileFuzz, CutShort) {
  const std::string whole = to_bytes(sample_program());
  for (size_t size = 0; size < whole.size(); size++) {
    std::string bytes = whole.substr(0, size);
    fuzz::seal_program(bytes);
    EXPECT_FALSE(fuzz::read_program(bytes)) << size;
  }
}

}  // namespace
}  // namespace dvm::dif
