// Layout and decoding of records, from bytes alone.
#include "runtime/instrument/uprobe/record.h"

#include <gtest/gtest.h>

#include <cstring>

namespace dvm::runtime {
namespace {

CaptureNeeds everything() {
  CaptureNeeds needs;
  needs.args = 0b1000000011;
  needs.time = needs.thread = needs.cpu = needs.comm = true;
  needs.memory = {{0, true, 8, 12}, {1, false, -8, 6}};
  return needs;
}

void put(std::vector<std::byte>& record, uint32_t at, const void* bytes, size_t size) {
  ASSERT_LE(at + size, record.size());
  std::memcpy(record.data() + at, bytes, size);
}
void put(std::vector<std::byte>& record, uint32_t at, uint64_t word) { put(record, at, &word, sizeof word); }

TEST(Record, TheSmallestHoldsItsHeadAlone) {
  const RecordLayout layout = make_layout({}, SiteKind::entry);
  EXPECT_EQ(layout.size, 8u);
  EXPECT_EQ(layout.least, 8u);
  std::vector<std::byte> record(8);
  put(record, 0, make_cookie(77, 3) | uint64_t{5} << 48);
  vm::Firing firing;
  decode(layout, record, {}, firing);
  EXPECT_EQ(firing.probe_id, 77u);
  EXPECT_EQ(firing.cpu, 5);
  EXPECT_TRUE(firing.memory.empty());
  EXPECT_EQ(group_of(make_cookie(77, 65535)), 65535);
}

TEST(Record, EveryField) {
  const RecordLayout layout = make_layout(possible_needs(everything(), SiteKind::entry), SiteKind::entry);
  EXPECT_EQ(layout.size, 8u + 8 + 8 + 16 + 3 * 8 + 16 + 24);
  ASSERT_EQ(layout.slots.size(), 2u);
  EXPECT_TRUE(layout.slots[1].need.is_string);  // strings last
  EXPECT_TRUE(layout.is_cut);
  std::vector<std::byte> record(layout.least + 4);
  put(record, 0, make_cookie(9, 0));
  put(record, layout.time, 123456789);
  put(record, layout.thread, uint64_t{4000} << 32 | 4001);
  put(record, layout.comm, "fifteen chars..", 16);
  put(record, layout.args[0], 0x1000);
  put(record, layout.args[1], 0x2000);
  put(record, layout.args[9], 99);
  put(record, layout.slots[0].at, 6);
  put(record, layout.slots[0].at + 8, "abcdef", 6);
  put(record, layout.slots[1].at, 4);
  put(record, layout.slots[1].at + 8, "xyz", 4);
  vm::Firing firing;
  std::array<vm::CapturedMemory, 2> memory;
  decode(layout, record, memory, firing);
  EXPECT_EQ(firing.timestamp, 123456789u);
  EXPECT_EQ(firing.pid, 4000);
  EXPECT_EQ(firing.tid, 4001);
  EXPECT_EQ(firing.execname, "fifteen chars..");
  EXPECT_EQ(firing.args[9], 99u);
  ASSERT_EQ(firing.memory.size(), 2u);
  EXPECT_EQ(firing.memory[0].address, 0x2000u - 8);
  EXPECT_EQ(firing.memory[0].bytes.size(), 6u);
  EXPECT_EQ(firing.memory[1].address, 0x1000u + 8);
  EXPECT_EQ(firing.memory[1].bytes.size(), 4u);
  EXPECT_TRUE(firing.memory[1].is_string);
}

TEST(Record, WhatIsAbsentOrImpossibleIsLeftOut) {
  const RecordLayout layout = make_layout(possible_needs(everything(), SiteKind::entry), SiteKind::entry);
  std::array<vm::CapturedMemory, 2> memory;
  for (const uint64_t length : {uint64_t{0}, static_cast<uint64_t>(kAbsent), uint64_t{13}, uint64_t{1} << 63, uint64_t{5}}) {
    std::vector<std::byte> record(layout.least + 4);  // room for four bytes of the string
    put(record, layout.slots[0].at, static_cast<uint64_t>(kAbsent));
    put(record, layout.slots[1].at, length);
    vm::Firing firing;
    decode(layout, record, memory, firing);
    EXPECT_TRUE(firing.memory.empty()) << length;
  }
}

TEST(Record, AReturnHasItsValueAlone) {
  CaptureNeeds needs = everything();
  needs.memory.push_back({1, true, 0, 8});
  const CaptureNeeds possible = possible_needs(needs, SiteKind::return_);
  EXPECT_EQ(possible.args, 0b10);
  EXPECT_EQ(possible.memory, (std::vector<MemoryNeed>{{1, false, -8, 6}, {1, true, 0, 8}}));
}

TEST(Record, ATimerHasProgramCountersAndItsThread) {
  const CaptureNeeds possible = possible_needs(everything(), SiteKind::timer);
  EXPECT_EQ(possible.args, 0b11);
  EXPECT_TRUE(possible.memory.empty());
  EXPECT_TRUE(possible_needs({}, SiteKind::timer).thread);
}

TEST(Record, MemoryBringsItsArgument) {
  CaptureNeeds needs;
  needs.memory = {{3, true, 0, 16}, {10, true, 0, 16}, {4, true, 0, 0}};
  const CaptureNeeds possible = possible_needs(needs, SiteKind::entry);
  EXPECT_EQ(possible.args, 1 << 3);
  EXPECT_EQ(possible.memory.size(), 1u);  // there is no argument 10, nor a string of no bytes
}

TEST(Record, LargeOnesAreMadeInTheRing) {
  CaptureNeeds needs;
  needs.memory = {{0, true, 0, 256}};
  EXPECT_TRUE(make_layout(possible_needs(needs, SiteKind::entry), SiteKind::entry).is_on_stack);
  needs.memory.push_back({1, true, 0, 256});
  const RecordLayout layout = make_layout(possible_needs(needs, SiteKind::entry), SiteKind::entry);
  EXPECT_FALSE(layout.is_on_stack);
  EXPECT_FALSE(layout.is_cut);
  EXPECT_EQ(layout.least, layout.size);
}

}  // namespace
}  // namespace dvm::runtime
