// Pieces of code are replaced together, and nothing else is.

#include "runtime/agent/code_writes.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string_view>

namespace dvm::runtime {
namespace {

constexpr size_t kPage = 4096, kPages = 3;

class CodeWritesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(memory_);
    std::fill_n(code_, kPages * kPage, 0x90);
    mprotect(code_, kPages * kPage, PROT_READ | PROT_EXEC);
  }
  void TearDown() override { munmap(code_, kPages * kPage); }
  uint64_t at(size_t offset) const { return reinterpret_cast<uint64_t>(code_) + offset; }
  void add(size_t offset, std::string_view bytes) {
    writes_.add(at(offset), std::as_bytes(std::span(bytes)));
    std::copy(bytes.begin(), bytes.end(), expected_.begin() + static_cast<ptrdiff_t>(offset));
  }
  void write_all() {
    EXPECT_TRUE(writes_.write(*memory_).empty());
    EXPECT_EQ(std::memcmp(code_, expected_.data(), expected_.size()), 0);
  }

  unsigned char* code_ =
      static_cast<unsigned char*>(mmap(nullptr, kPages* kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  Result<AgentMemory> memory_ = AgentMemory::open(getpid());
  std::vector<unsigned char> expected_ = std::vector<unsigned char>(kPages * kPage, 0x90);
  CodeWrites writes_;
};

TEST_F(CodeWritesTest, ReplacesPiecesInAnyOrder) {
  add(70, "later"), add(0, "first"), add(2 * kPage, "third page"), add(kPage - 5, "ends!"), add(30, "next");
  write_all();
}

TEST_F(CodeWritesTest, ReplacesWhatCrossesPagesOrOverlaps) {
  add(kPage - 20, "before"), add(kPage - 3, "crosses"), add(kPage + 5, "behind it"), add(2 * kPage, "one"),
      add(2 * kPage + 2, "two");
  write_all();
}

TEST_F(CodeWritesTest, ReplacesNeighboursOfTraps) {
  mprotect(code_, kPages * kPage, PROT_READ | PROT_WRITE);
  for (const size_t trap : {size_t{8}, size_t{20}, kPage}) code_[trap] = expected_[trap] = 0xcc;
  mprotect(code_, kPages * kPage, PROT_READ | PROT_EXEC);
  add(0, "first"), add(10, "second"), add(20, "third"), add(40, "fourth"), add(kPage + 1, "fifth");
  write_all();
}

TEST_F(CodeWritesTest, ReplacesRandomPieces) {
  constexpr size_t kSlot = 16;
  std::mt19937 random{5};
  for (int round = 0; round < 200; round++) {
    for (size_t slot = 0; slot < kPages * kPage / kSlot; slot++)
      if (random() % 4 == 0) add(slot * kSlot + random() % 8, std::string_view("\xe9\xcc\x01\x02\x03\x04\x05", random() % 7 + 1));
    write_all();
  }
}

TEST_F(CodeWritesTest, TellsWhatCannotBeWritten) {
  munmap(code_ + kPage, kPage);
  const std::string_view jump = "jumps";
  for (const size_t offset : {size_t{0}, kPage, kPage + 100, 2 * kPage}) writes_.add(at(offset), std::as_bytes(std::span(jump)));
  EXPECT_EQ(writes_.write(*memory_), (std::set<uint64_t>{at(kPage), at(kPage + 100)}));
  EXPECT_EQ(std::memcmp(code_, jump.data(), jump.size()), 0);
  EXPECT_EQ(std::memcmp(code_ + 2 * kPage, jump.data(), jump.size()), 0);
}

}  // namespace
}  // namespace dvm::runtime
