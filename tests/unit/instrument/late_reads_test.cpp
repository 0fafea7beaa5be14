// Memory read after a firing, kept and found again.

#include "runtime/process/late_reads.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dvm::runtime {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string read(RecordedReads& reads, uint64_t address, size_t size) {
  std::string to(size, '?');
  return reads.read(address, std::as_writable_bytes(std::span(to))) ? to : "none";
}

std::string read_string(RecordedReads& reads, uint64_t address, size_t most) {
  std::string to(most, '?');
  const std::ptrdiff_t size = reads.read_string(address, to);
  return size < 0 ? "none" : to.substr(0, static_cast<size_t>(size));
}

TEST(LateReads, AreKeptForOneFiring) {
  LateReads reads;
  std::string text = "first";
  reads.add(0x1000, bytes_of(text), false);
  text = "other";
  ASSERT_EQ(reads.pieces().size(), 1U);
  EXPECT_EQ(reads.pieces()[0].address, 0x1000U);
  EXPECT_TRUE(std::ranges::equal(reads.pieces()[0].bytes, bytes_of("first")));
  reads.begin();
  EXPECT_TRUE(reads.pieces().empty());
}

TEST(LateReads, WhatHasNoRoomIsCounted) {
  LateReads reads;
  const std::string large(LateReads::kMostBytes - 1, 'x');
  reads.add(1, bytes_of(large), false);
  reads.add(2, bytes_of("ab"), false);
  reads.add(3, bytes_of("c"), false);
  EXPECT_EQ(reads.pieces().size(), 2U);
  EXPECT_EQ(reads.lost(), 1U);
  reads.begin();
  for (size_t i = 0; i <= LateReads::kMostPieces; i++) reads.add(i, {}, false);
  EXPECT_EQ(reads.lost(), 2U);
}

TEST(RecordedReads, AnswerAnyPartOfAPiece) {
  const std::vector<vm::CapturedMemory> pieces = {{0x1000, bytes_of("abcdef"), false}};
  RecordedReads reads;
  EXPECT_EQ(read(reads, 0x1000, 1), "none");
  reads.begin(pieces);
  EXPECT_EQ(read(reads, 0x1000, 6), "abcdef");
  EXPECT_EQ(read(reads, 0x1002, 3), "cde");
  EXPECT_EQ(read(reads, 0x1002, 5), "none");
  EXPECT_EQ(read(reads, 0xfff, 1), "none");
  EXPECT_EQ(read(reads, 0x1006, 1), "none");
}

TEST(RecordedReads, MemoryThatChangedChangesAgain) {
  const std::vector<vm::CapturedMemory> pieces = {
      {0x1000, bytes_of("one"), false}, {0x2000, bytes_of("x"), false}, {0x1000, bytes_of("two"), false}};
  RecordedReads reads;
  reads.begin(pieces);
  EXPECT_EQ(read(reads, 0x1000, 3), "one");
  EXPECT_EQ(read(reads, 0x1000, 3), "two");
  EXPECT_EQ(read(reads, 0x2000, 1), "x");
  reads.begin(pieces);
  EXPECT_EQ(read(reads, 0x1000, 3), "one");  // of the next firing
}

TEST(RecordedReads, StringsEndWhereTheyEnded) {
  using namespace std::string_view_literals;
  const std::vector<vm::CapturedMemory> pieces = {{0x1000, bytes_of("whole\0"sv), true}, {0x2000, bytes_of("cut of"), true}};
  RecordedReads reads;
  reads.begin(pieces);
  EXPECT_EQ(read_string(reads, 0x1000, 100), "whole");
  std::string with_nul(7, '?');
  EXPECT_EQ(reads.read_string(0x1000, with_nul), 5);
  EXPECT_EQ(with_nul, "whole\0?"sv);
  EXPECT_EQ(read_string(reads, 0x1002, 100), "ole");
  EXPECT_EQ(read_string(reads, 0x1000, 3), "who");
  EXPECT_EQ(read_string(reads, 0x1005, 10), "");
  EXPECT_EQ(read_string(reads, 0x2000, 6), "cut of");
  EXPECT_EQ(read_string(reads, 0x2000, 7), "none");
  EXPECT_EQ(read_string(reads, 0x3000, 7), "none");
}

}  // namespace
}  // namespace dvm::runtime
