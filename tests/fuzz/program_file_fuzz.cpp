// Damaged program files behind right checksums: reading them must end with an error, or with a program whose DIF the verifier
// takes or refuses.

#include <gtest/gtest.h>

#include <cstring>

#include "dvm/vm/verify.h"
#include "tests/fuzz/fuzz_support.h"
#include "tests/support/sample_program.h"

namespace dvm::dif {
namespace {

constexpr size_t kHead = 12 + 4 + 8 + 8;

void put(std::string& bytes, size_t at, uint64_t value) {
  for (size_t i = 0; i < 8; i++) bytes[at + i] = static_cast<char>(value >> (8 * i) & 0xff);
}

// Size and checksum as they would be if the payload were what was meant.
void seal(std::string& bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = kHead; i < bytes.size(); i++) hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3;
  put(bytes, 16, bytes.size() - kHead);
  put(bytes, 24, hash);
}

unsigned read(const std::string& bytes) {
  const Result<ProgramFile> file = from_bytes(bytes);
  if (!file) return 0;
  for (const NamedProgram& program : file->programs)
    for (const EcbDesc& clause : program.program.clauses)
      for (const ActDesc& action : clause.actions)
        for (const RecDesc& arg : action.args) (void)vm::verify(arg.difo);
  return 1;
}

TEST(ProgramFileFuzz, DamagedBehindRightChecksums) {
  const std::string whole = to_bytes(sample_program());
  std::mt19937 random(7);
  unsigned taken = 0, refused = 0;
  for (int i = 0; i < 20000; i++) {
    std::string bytes = fuzz::damage(whole, random, kHead, whole.size());
    if (bytes.size() < kHead) continue;
    seal(bytes);
    (read(bytes) ? taken : refused)++;
  }
  EXPECT_GT(refused, 5000u);
  EXPECT_GT(taken, 100u);
}

TEST(ProgramFileFuzz, CutShort) {
  const std::string whole = to_bytes(sample_program());
  for (size_t size = 0; size < whole.size(); size++) {
    std::string bytes = whole.substr(0, size);
    if (size >= kHead) seal(bytes);
    EXPECT_EQ(read(bytes), 0u) << size;
  }
}

}  // namespace
}  // namespace dvm::dif
