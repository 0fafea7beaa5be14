// Damaged programs of Go: whatever their table of functions and build information hold, they are read or refused.

#include <gtest/gtest.h>

#include "tests/fuzz/read_go.h"
#include "tests/support/go_file.h"

namespace dvm::runtime {
namespace {

using test::GoFile;

// How many of a thousand files are still programs of Go, and how many of their tables are still read.
std::pair<int, int> damage_between(unsigned seed, size_t from, size_t to) {
  std::mt19937 random(seed);
  const GoFile whole;
  fuzz::MemoryFile file;
  std::pair<int, int> found;
  for (int i = 0; i < 1000; i++) {
    const std::string bytes = fuzz::damage(whole.bytes, random, from, to);
    found.first += fuzz::read_go(file, bytes);
    found.second += fuzz::read_go_functions(bytes, GoFile::kText);
  }
  return found;
}

TEST(GoFuzz, TableOfFunctions) {
  const GoFile whole;
  const auto [programs, tables] = damage_between(1, whole.table, whole.table + whole.table_size);
  EXPECT_GT(programs, 500);
  EXPECT_GT(tables, 100);
  EXPECT_LT(tables, 1000);
}

TEST(GoFuzz, BuildInformation) {
  const GoFile whole;
  EXPECT_GT(damage_between(2, whole.build, whole.table).first, 500);
}

TEST(GoFuzz, Anywhere) {
  const auto [programs, tables] = damage_between(3, 0, GoFile().bytes.size());
  EXPECT_GT(programs, 10);
  EXPECT_GT(tables, 10);
}

}  // namespace
}  // namespace dvm::runtime
