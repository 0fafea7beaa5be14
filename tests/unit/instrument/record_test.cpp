// Layout and decoding of records, from bytes alone.
#include "runtime/instrument/uprobe/record.h"

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/instrument/uprobe/capture_program.h"
#include "runtime/process/captured_command_line.h"
#include "runtime/process/captured_numbers.h"

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
  FiringRoom room;
  decode(layout, record, room, firing);
  EXPECT_EQ(firing.probe_id, 77u);
  EXPECT_EQ(firing.cpu, 5);
  EXPECT_TRUE(firing.memory.empty());
  EXPECT_EQ(group_of(make_cookie(77, 65535)), 65535);
}

TEST(Record, ACommandLineIsThatOfTheFiring) {
  CaptureNeeds needs;
  needs.command = true;
  EXPECT_TRUE(possible_needs(needs, SiteKind::timer).memory.empty());
  for (const SiteKind kind : {SiteKind::entry, SiteKind::syscall})
    EXPECT_EQ(possible_needs(needs, kind).memory, std::vector{MemoryNeed::of_command_line()});
  const RecordLayout layout = make_layout(possible_needs(needs, SiteKind::tracepoint), SiteKind::tracepoint);
  ASSERT_EQ(layout.slots.size(), 1u);
  std::vector<std::byte> record(layout.size);
  put(record, layout.slots[0].at, 9);
  put(record, layout.slots[0].at + 8, "cat\0file", 9);
  vm::Firing firing;
  FiringRoom room;
  room.fit(layout);
  decode(layout, record, room, firing);
  CapturedCommandLine line;
  line.find(firing.memory);
  EXPECT_EQ(line.text(), "cat file");
  EXPECT_TRUE(line.is_whole());
  line.find({});
  EXPECT_EQ(line.text(), "");
}

TEST(Record, NumbersOfTheProcessAreThoseOfTheFiring) {
  CaptureNeeds needs;
  needs.process_numbers = 1u << 10 | 1u << 2 | 1u << 14;  // the last is not in a task_struct
  for (const SiteKind kind : {SiteKind::entry, SiteKind::return_, SiteKind::timer, SiteKind::syscall, SiteKind::tracepoint})
    EXPECT_EQ(possible_needs(needs, kind).memory,
              (std::vector{MemoryNeed::of_process_number(2), MemoryNeed::of_process_number(10)}));
  const RecordLayout layout = make_layout(possible_needs(needs, SiteKind::timer), SiteKind::timer);
  ASSERT_EQ(layout.slots.size(), 2u);
  std::vector<std::byte> record(layout.size);
  put(record, layout.slots[0].at, static_cast<uint64_t>(kAbsent));
  put(record, layout.slots[1].at, 8);
  put(record, layout.slots[1].at + 8, 120);
  vm::Firing firing;
  FiringRoom room;
  room.fit(layout);
  decode(layout, record, room, firing);
  ASSERT_EQ(firing.memory.size(), 1u);
  EXPECT_EQ(firing.memory[0].address, static_cast<uint64_t>(vm::CapturedMemory::kProcessNumber) + 10);
  EXPECT_TRUE(firing.memory[0].is_file);
}

TEST(Record, TheNameOfTheParentIsThatOfTheFiring) {
  const char name[] = "a name of many";  // and a NUL
  static_assert(sizeof name == 15);
  uint64_t words[2] = {};
  std::memcpy(words, name, sizeof name);
  const auto word = [&](unsigned number) {
    return vm::CapturedMemory{static_cast<uint64_t>(vm::CapturedMemory::kProcessNumber) + process_number::parent_name + number,
                              std::as_bytes(std::span(&words[number], 1)), false, true};
  };
  const std::vector<vm::CapturedMemory> memory = {word(0), word(1)};
  CapturedParentName parent;
  EXPECT_EQ(parent.find(memory), "a name of many");
  EXPECT_EQ(parent.find({&memory[0], 1}).data(), nullptr);
  words[0] = 0;
  EXPECT_EQ(parent.find(memory), "");
  EXPECT_NE(parent.find(memory).data(), nullptr);
}

TEST(Record, AncestorsAreThoseOfTheFiring) {
  CaptureNeeds needs;
  needs.ancestors = true;
  for (const SiteKind kind : {SiteKind::return_, SiteKind::timer})
    EXPECT_EQ(possible_needs(needs, kind).memory, std::vector{MemoryNeed::of_ancestors()});
  const int64_t ids[] = {300, 20, 1, 0};
  const std::vector<vm::CapturedMemory> memory = {
      {vm::CapturedMemory::kCommandLine, {}, false, true},
      {vm::CapturedMemory::kAncestors, std::as_bytes(std::span(ids)), false, true},
      {static_cast<uint64_t>(vm::CapturedMemory::kProcessNumber) + 3, std::as_bytes(std::span(ids, 1)), false, true}};
  for (const int64_t pid : {300, 20, 1}) EXPECT_TRUE(is_captured_ancestor(memory, pid));
  for (const int64_t pid : {0, 2, 301, -1}) EXPECT_FALSE(is_captured_ancestor(memory, pid));
  EXPECT_EQ(captured_number(memory, 3), 300);
  EXPECT_EQ(captured_number(memory, 2), std::nullopt);
}

TEST(Record, APolicyIsShownWithoutItsFlag) {
  for (const auto& [captured, shown] : {std::pair<int64_t, int64_t>{0x40000000, 0}, {0x40000002, 2}, {1, 1}, {-1, -1}}) {
    const uint64_t address = static_cast<uint64_t>(vm::CapturedMemory::kProcessNumber) + process_number::policy;
    const std::vector<vm::CapturedMemory> memory = {{address, std::as_bytes(std::span(&captured, 1)), false, true}};
    EXPECT_EQ(captured_number(memory, process_number::policy), shown);
  }
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
  FiringRoom room;
  room.fit(layout);
  decode(layout, record, room, firing);
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
  FiringRoom room;
  room.fit(layout);
  for (const uint64_t length : {uint64_t{0}, static_cast<uint64_t>(kAbsent), uint64_t{13}, uint64_t{1} << 63, uint64_t{5}}) {
    std::vector<std::byte> record(layout.least + 4);  // room for four bytes of the string
    put(record, layout.slots[0].at, static_cast<uint64_t>(kAbsent));
    put(record, layout.slots[1].at, length);
    vm::Firing firing;
    decode(layout, record, room, firing);
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

TEST(Record, ASystemCallHasItsErrorOnceItHasReturned) {
  CaptureNeeds needs;
  needs.error = true;
  SiteShape entry = SiteKind::syscall, exit = SiteKind::syscall;
  exit.error = Operand::of_kind(Operand::Kind::error);
  EXPECT_FALSE(possible_needs(needs, entry).error);
  EXPECT_TRUE(possible_needs(needs, exit).error);
  EXPECT_TRUE(possible_needs(needs, exit).thread);  // nothing else says whose call it was
  const RecordLayout layout = make_layout(possible_needs(needs, exit), exit);
  std::vector<uint64_t> words(layout.size / 8);
  words[layout.error / 8] = 2;
  FiringRoom room;
  vm::Firing firing;
  decode(layout, std::as_bytes(std::span(words)), room, firing);
  EXPECT_EQ(firing.error_number, 2);
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

RecordLayout layout_of(const std::vector<MemoryNeed>& memory, SiteKind kind = SiteKind::entry) {
  CaptureNeeds needs;
  needs.memory = memory;
  return make_layout(possible_needs(needs, kind), kind);
}

const Word kPointer = Word(1).load(16), kSecond = kPointer.load(8);

TEST(Record, VariablesStartFromAWordThatIsZero) {
  const int64_t at = 0x7ffff7a01230;
  for (const SiteKind kind : {SiteKind::entry, SiteKind::return_}) {
    const RecordLayout layout = layout_of({{Word::zero(), false, at, 8}, {Word::zero().load(at), true, 0, 16}}, kind);
    ASSERT_EQ(layout.slots.size(), 2u);
    EXPECT_NE(layout.zero, 0u);
    EXPECT_EQ(layout.slots[0].base, layout.zero);
    EXPECT_EQ(layout.slots[1].base, layout.slots[0].at + 8);
    EXPECT_EQ(layout.args, (decltype(RecordLayout::args){}));
  }
  EXPECT_TRUE(layout_of({{Word::zero(), false, at, 8}}, SiteKind::timer).slots.empty());
  EXPECT_EQ(layout_of({{1, false, 0, 8}}).zero, 0u);
}

TEST(Record, WordsComeBeforeWhatTheyLeadTo) {
  const RecordLayout layout =
      layout_of({{kSecond, true, 4, 32}, {kSecond, false, 0, 4}, {kPointer, false, 0, 16}, {1, false, 0, 24}});
  ASSERT_EQ(layout.slots.size(), 4u);
  EXPECT_EQ(layout.slots[0].base, layout.args[1]);
  EXPECT_EQ(layout.slots[1].base, layout.slots[0].at + 8 + 16);
  EXPECT_EQ(layout.slots[1].parent, 0u);
  for (const size_t last : {2, 3}) {
    EXPECT_EQ(layout.slots[last].base, layout.slots[1].at + 8 + 8);
    EXPECT_EQ(layout.slots[last].parent, 1u);
  }
  EXPECT_TRUE(layout.slots[3].need.is_string);
  EXPECT_EQ(layout.args[0], 0u);
}

TEST(Record, AddressesFromWords) {
  const RecordLayout layout = layout_of({{1, false, 0, 24}, {kPointer, true, 4, 32}});
  ASSERT_TRUE(layout.is_cut);
  std::vector<std::byte> record(layout.least + 3);
  put(record, layout.args[1], 0x1000);
  put(record, layout.slots[0].at, 24);
  put(record, layout.slots[0].at + 8 + 16, 0x7000);
  put(record, layout.slots[1].at, 3);
  put(record, layout.slots[1].at + 8, "ab", 3);
  vm::Firing firing;
  FiringRoom room;
  room.fit(layout);
  decode(layout, record, room, firing);
  ASSERT_EQ(firing.memory.size(), 2u);
  EXPECT_EQ(firing.memory[0].address, 0x1000u);
  EXPECT_EQ(firing.memory[1].address, 0x7004u);
}

// The word is nowhere, or where BPF cannot load it: the need is a late read.
TEST(Record, WhatCannotBeReachedHasNoSlot) {
  EXPECT_TRUE(layout_of({{kPointer, true, 0, 32}}).slots.empty());
  EXPECT_EQ(layout_of({{1, false, 12, 24}, {kPointer, true, 0, 32}}).slots.size(), 1u);
  EXPECT_TRUE(layout_of({{1, false, 0, 32, kPointer}}).slots.empty());
  EXPECT_EQ(layout_of({{1, false, 0, 32, Word(2)}, {Word(1).load(0), true, 0, 32}}).slots.size(), 1u);  // of no sure length
  EXPECT_TRUE(layout_of({{1, false, 0, 32, Word(2)}}, SiteKind::return_).slots.empty());
  EXPECT_EQ(layout_of({{1, false, 16, 8}, {kPointer, true, 0, 32}}, SiteKind::return_).slots.size(), 2u);
  EXPECT_TRUE(layout_of({{1, false, 0, 32, Word(10)}}).slots.empty());
}

TEST(Record, KeptWordsLeadToMemoryAndAreKept) {
  CaptureNeeds needs;
  needs.memory = {{Word::of_kept(3), true, 0, 32}};
  needs.add(KeptWord{3, Word(1), 8});
  needs.add(KeptWord{5, Word(2).load(16), 0});
  const RecordLayout layout = make_layout(possible_needs(needs, SiteKind::entry), SiteKind::entry);
  ASSERT_EQ(layout.slots.size(), 2u);  // the word at arg2 + 16, and the string
  EXPECT_NE(layout.kept[3], 0u);
  EXPECT_EQ(layout.slots[1].base, layout.kept[3]);
  EXPECT_EQ(layout.keeps, (std::vector<KeptSlot>{{3, layout.args[1], 8}, {5, layout.slots[0].at + 8, 0}}));
  EXPECT_EQ(layout.captured_args, 0b110u);
}

TEST(Record, OnlyProbesOfProcessesKeepWords) {
  CaptureNeeds needs;
  needs.memory = {{Word::of_kept(3), true, 0, 32}};
  needs.add(KeptWord{3, Word(1), 0});
  for (const SiteKind kind : {SiteKind::syscall, SiteKind::timer, SiteKind::tracepoint}) {
    const CaptureNeeds possible = possible_needs(needs, kind);
    EXPECT_TRUE(possible.memory.empty() && possible.keeps.empty());
  }
  EXPECT_TRUE(possible_needs(needs, SiteKind::inside).keeps.empty());  // it has no such argument
}

TEST(Record, WhatIsSizedByAWordIsCut) {
  const RecordLayout layout = layout_of({{1, false, 0, 256, Word(2)}, {1, false, 0, 4}});
  ASSERT_EQ(layout.slots.size(), 2u);
  EXPECT_EQ(layout.slots[1].sized_by, layout.args[2]);
  EXPECT_TRUE(layout.is_cut);
  EXPECT_EQ(layout.least, 8u + 2 * 8 + 16 + 8);
}

// A string that is as long as the word allows may have been cut there.
TEST(Record, AStringThatFillsItsSizeHasNoNul) {
  const RecordLayout layout = layout_of({{1, true, 0, 256, Word(2)}});
  vm::Firing firing;
  FiringRoom room;
  room.fit(layout);
  const auto length = [&](uint64_t size) {
    std::vector<std::byte> record(layout.least + 4);
    put(record, layout.args[2], size);
    put(record, layout.slots[0].at, 4);
    decode(layout, record, room, firing);
    return firing.memory.empty() ? 0 : firing.memory[0].bytes.size();
  };
  EXPECT_EQ(length(4), 3u);
  EXPECT_EQ(length(5), 4u);
  EXPECT_EQ(length(~uint64_t{0}), 4u);
}

// Limits the instructions and bytes of clauses without pointers: `@ = count()` and `@[copyinstr(arg0)] = count()`.
TEST(Record, CheapClausesStayCheap) {
  const auto instructions = [](const RecordLayout& layout) { return make_capture_program(layout, {3, 4}, {1, 2}).size(); };
  const RecordLayout count = layout_of({}), by_string = layout_of({{0, true, 0, 257}});
  EXPECT_LE(instructions(count), 26u);  // eight of them only run where a record finds no room
  EXPECT_EQ(count.size, 8u);
  EXPECT_LE(instructions(by_string), 94u);  // thirty-four of them only run where a string cannot be read to its NUL
  EXPECT_EQ(by_string.least, 24u);
}

// Of what may be large there are two layouts with the same slots, the first without padding in the ring.
TEST(Record, WhatMayBeLargeMostlyIsSmall) {
  CaptureNeeds needs;
  needs.memory = {{0, true, 0, kMostBytes}, {1, false, 0, 16}};
  const RecordLayouts layouts = make_layouts(possible_needs(needs, SiteKind::entry), SiteKind::entry);
  ASSERT_TRUE(layouts.larger);
  EXPECT_TRUE(layouts.first.is_on_stack);
  EXPECT_TRUE(layouts.first.is_cut);
  ASSERT_EQ(layouts.first.slots.size(), layouts.larger->slots.size());
  EXPECT_EQ(layouts.first.slots[0].need, layouts.larger->slots[0].need);
  EXPECT_EQ(layouts.larger->slots[1].need, needs.memory[0]);
  needs.memory = {{0, true, 0, 257}, {1, true, 0, 257}};
  EXPECT_FALSE(make_layouts(possible_needs(needs, SiteKind::entry), SiteKind::entry).larger);
  needs.memory = {{0, true, 0, kMostBytes}, {1, false, 0, 600}};
  EXPECT_FALSE(make_layouts(possible_needs(needs, SiteKind::entry), SiteKind::entry).larger);  // too much of a fixed size
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

// Decodes a record with these words for its stack.
TEST(Record, AShapeHasTheArgumentsOfItsKind) {
  EXPECT_EQ(SiteShape(SiteKind::entry).known_args(), 0x3ff);
  EXPECT_EQ(SiteShape(SiteKind::return_).known_args(), 1u << 1);
  EXPECT_EQ(SiteShape(SiteKind::inside).known_args(), 0);
  EXPECT_EQ(SiteShape(SiteKind::timer).known_args(), 0b11);
  EXPECT_EQ(SiteShape(SiteKind::entry).args[6], Operand::memory(saved::rsp, 8));
  EXPECT_EQ(SiteShape(SiteKind::entry, 24).args[7], Operand::memory(saved::rsp, 40));
}

TEST(Record, WhatASiteDoesNotHaveIsNotCaptured) {
  SiteShape shape = SiteKind::inside;
  shape.args[2] = Operand::constant(7);
  CaptureNeeds needs = everything();
  needs.memory = {{2, false, 0, 8, {}}, {1, false, 0, 8, {}}};
  const CaptureNeeds possible = possible_needs(needs, shape);
  EXPECT_EQ(possible.args, 1u << 2);
  ASSERT_EQ(possible.memory.size(), 1u);
  EXPECT_EQ(possible.memory[0].base, Word(2));
}

std::vector<uint64_t> stack_of(SiteKind kind, uint16_t frames, int64_t bytes, uint64_t extra,
                               const std::vector<uint64_t>& found) {
  CaptureNeeds needs;
  needs.frames = frames;
  const RecordLayout layout = make_layout(needs, kind);
  std::vector<std::byte> record(layout.size);
  put(record, layout.stack, static_cast<uint64_t>(bytes));
  put(record, layout.stack + 8, extra);
  for (size_t i = 0; i < found.size() && i < frames; i++) put(record, layout.stack + 16 + static_cast<uint32_t>(8 * i), found[i]);
  FiringRoom room;
  room.fit(layout);
  vm::Firing firing;
  decode(layout, record, room, firing);
  return {firing.stack.begin(), firing.stack.end()};
}

TEST(Record, AStackHasTheCallerThatNoFrameTells) {
  using Stack = std::vector<uint64_t>;
  EXPECT_EQ(stack_of(SiteKind::entry, 8, 24, 0x20, {0x10, 0x30, 0x40}), (Stack{0x10, 0x20, 0x30, 0x40}));
  EXPECT_EQ(stack_of(SiteKind::entry, 8, 24, 0x20, {0x10, 0x20, 0x30}), (Stack{0x10, 0x20, 0x30}));  // newer kernels know it
  EXPECT_EQ(stack_of(SiteKind::entry, 8, 8, 0x20, {0x10}), (Stack{0x10, 0x20}));
  EXPECT_EQ(stack_of(SiteKind::entry, 3, 24, 0x20, {0x10, 0x30, 0x40}), (Stack{0x10, 0x20, 0x30}));
  EXPECT_EQ(stack_of(SiteKind::entry, 1, 8, 0x20, {0x10}), (Stack{0x10}));
  EXPECT_EQ(stack_of(SiteKind::return_, 8, 16, 0x10, {0x20, 0x30}), (Stack{0x10, 0x20, 0x30}));
  EXPECT_EQ(stack_of(SiteKind::timer, 8, 16, 0, {0x20, 0x30}), (Stack{0x20, 0x30}));
}

TEST(Record, AStackThatCouldNotBeWalkedIsEmpty) {
  for (const int64_t bytes : {int64_t{0}, int64_t{-14}, INT64_MIN})
    EXPECT_TRUE(stack_of(SiteKind::entry, 4, bytes, 0x20, {}).empty());
  EXPECT_EQ(stack_of(SiteKind::timer, 2, INT64_MAX, 0, {1, 2}).size(), 2u);
}

TEST(Record, TheBytesOfAStackComeLastWithTheRegistersToUnwindIt) {
  CaptureNeeds needs;
  needs.frames = 5;
  needs.stack_bytes = 700;
  const RecordLayout layout = make_layout(possible_needs(needs, SiteKind::return_), SiteKind::return_);
  EXPECT_EQ(layout.stack_bytes, 1024u);
  EXPECT_EQ(layout.stack_at + 1024, layout.size);
  EXPECT_FALSE(layout.is_on_stack);
  std::vector<std::byte> record(layout.least);
  for (uint32_t i = 0; i < 8; i++) put(record, layout.registers + 8 * i, 0x1000 + i);  // the last two: %rip, %rsp
  put(record, layout.stack, 512);
  put(record, layout.stack + 8, 0x7777);
  StackCopy copy = stack_copy(layout, record);
  EXPECT_EQ(copy.function, 0x7777u);
  EXPECT_EQ(copy.stack.registers[kReturnAddress], 0x1006u);
  EXPECT_EQ(copy.stack.registers[kStackPointer], 0x1007u);
  EXPECT_EQ(copy.stack.address, 0x1000u);
  EXPECT_EQ(copy.stack.bytes.size(), 512u);
  EXPECT_TRUE(copy.stack.chain.empty());
  put(record, layout.chain, 3);
  EXPECT_EQ(stack_copy(layout, record).stack.chain.size(), 24u);
  put(record, layout.chain, UINT64_MAX);
  EXPECT_EQ(stack_copy(layout, record).stack.chain.size(), 40u);  // no more than frames
  put(record, layout.stack, UINT64_MAX);
  EXPECT_EQ(stack_copy(layout, record).stack.known, 0u);
  EXPECT_TRUE(stack_copy(layout, record).stack.bytes.empty());
  put(record, layout.stack, uint64_t{1} << 60);
  EXPECT_EQ(stack_copy(layout, record).stack.bytes.size(), 1024u);
}

TEST(Record, OnlyTheThreadThatRunsHasAStack) {
  CaptureNeeds needs;
  needs.frames = 5;
  needs.stack_bytes = kWhereNeeded;
  SiteShape shape = SiteKind::tracepoint;
  EXPECT_EQ(make_layout(possible_needs(needs, shape), shape).stack_bytes, kMostStackBytes);
  shape.thread.process = Operand::constant(1);
  EXPECT_EQ(make_layout(possible_needs(needs, shape), shape).stack_bytes, 0u);
  EXPECT_EQ(make_layout(possible_needs(needs, shape), shape).stack, 0u);
}

}  // namespace
}  // namespace dvm::runtime
