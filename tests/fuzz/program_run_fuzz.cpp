// Damaged programs behind right checksums, run: they are refused, or enabled, fired on and printed to their end.

#include <gtest/gtest.h>

#include "tests/fuzz/read_program.h"
#include "tests/fuzz/run_program.h"
#include "tests/support/sample_program.h"

namespace dvm::fuzz {
namespace {

TEST(ProgramRunFuzz, Whole) {
  for (const dif::NamedProgram& program : dif::sample_program().programs)
    EXPECT_TRUE(run_program(on_known_probes(program.program)));
}

TEST(ProgramRunFuzz, Damaged) {
  const std::string whole = dif::to_bytes(dif::sample_program());
  std::mt19937 random(11);
  unsigned ran = 0, refused = 0;
  for (int i = 0; i < 6000; i++) {
    std::string bytes = damage(whole, random, kProgramHead, whole.size());
    if (bytes.size() < kProgramHead) continue;
    seal_program(bytes);
    const Result<dif::ProgramFile> file = dif::from_bytes(bytes);
    if (!file) continue;
    for (const dif::NamedProgram& program : file->programs) (run_program(on_known_probes(program.program)) ? ran : refused)++;
  }
  EXPECT_GT(ran, 100u);
  EXPECT_GT(refused, 10u);
}

}  // namespace
}  // namespace dvm::fuzz
