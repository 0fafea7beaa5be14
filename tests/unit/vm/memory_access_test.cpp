// The regions: what may be read, what may be written, to the byte.

#include "vm/state/memory_access.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/conformance/mock_host.h"

namespace dvm::vm {

namespace {

class MemoryAccessTest : public testing::Test {
 protected:
  void SetUp() override {
    state_.firing = &firing_;
    state_.host = &host_;
    state_.difo = &difo_;
    difo_.strings = std::string("abc\0defgh\0", 10);
  }
  static uint64_t address(const void* at) { return address_of(at); }

  std::vector<dif::Variable> table_{
      {"g", 0x500, dif::Scope::global, dif::VariableKind::scalar, true, true, {dif::TypeKind::bytes, false, false, 16, ""}},
      {"c",
       0x501,
       dif::Scope::clause,
       dif::VariableKind::scalar,
       true,
       true,
       {dif::TypeKind::string, false, false, 0, "string"}}};
  StateLimits limits_{.strsize = 8, .scratch = 128, .dynvarsize = 4096};
  VariableState::Impl variables_{table_, limits_};
  State state_{variables_, limits_, table_};
  Firing firing_;
  test::MockHost host_;
  dif::Difo difo_;
};

TEST_F(MemoryAccessTest, ScratchIsReachableAsFarAsItIsUsed) {
  const uint64_t at = address(allocate_scratch(state_, 24));
  EXPECT_TRUE(store_bytes(state_, at, 24));
  EXPECT_TRUE(load_bytes(state_, at + 23, 1));
  EXPECT_FALSE(state_.faulted());
  EXPECT_FALSE(store_bytes(state_, at, 25));
  EXPECT_TRUE(state_.faulted());
  state_.fault = {};
  EXPECT_FALSE(load_bytes(state_, at - 1, 1));
  EXPECT_FALSE(load_bytes(state_, at + 24, 1));
  EXPECT_FALSE(load_bytes(state_, at, ~uint64_t{0}));
}

TEST_F(MemoryAccessTest, VariablesCanBeWritten) {
  const uint64_t global = state_.variables.globals.find(0x500)->value;
  EXPECT_TRUE(store_bytes(state_, global, 16));
  EXPECT_FALSE(store_bytes(state_, global, 17));
  EXPECT_TRUE(store_bytes(state_, state_.locals.find(0x501)->value, 9));
  EXPECT_TRUE(store_bytes(state_, address(state_.variables.dynamic.memory().data()), 1));
}

TEST_F(MemoryAccessTest, SomeRegionsAreReadOnly) {
  static const char kBytes[] = "captured";
  const CapturedMemory memory[] = {{0x1000, std::as_bytes(std::span(kBytes)), false}};
  firing_.memory = memory;
  firing_.name = "entry";
  for (const void* at : {static_cast<const void*>(difo_.strings.data()), static_cast<const void*>(variables_.zeros.data()),
                         static_cast<const void*>(kBytes), static_cast<const void*>(firing_.name.data())}) {
    state_.fault = {};
    EXPECT_TRUE(load_bytes(state_, address(at), 1));
    EXPECT_FALSE(store_bytes(state_, address(at), 1));
    EXPECT_EQ(state_.fault.value, address(at));
  }
  EXPECT_TRUE(load_bytes(state_, address(firing_.name.data()), 6));
  EXPECT_FALSE(load_bytes(state_, address(firing_.name.data()), 7));
}

TEST_F(MemoryAccessTest, StringsEndAtTheirNulOrAtStrsize) {
  EXPECT_EQ(string_at(state_, address(difo_.strings.data())), "abc");
  EXPECT_EQ(string_at(state_, address(difo_.strings.data() + 4)), "defgh");
  EXPECT_EQ(string_at(state_, address(difo_.strings.data() + 4), 2), "de");
  EXPECT_FALSE(string_at(state_, 0));
}

TEST_F(MemoryAccessTest, AStringMustEndInsideItsRegion) {
  std::byte* at = allocate_scratch(state_, 8);
  std::fill_n(at, 8, std::byte{'x'});
  EXPECT_EQ(string_at(state_, address(at)), "xxxxxxxx");
  EXPECT_FALSE(string_at(state_, address(at + 4)));
  EXPECT_EQ(state_.fault.id, dif::Fault::badaddr);
}

TEST_F(MemoryAccessTest, ACutStringEndsWhereItWasCut) {
  static const char kCut[] = {'c', 'u', 't'};
  const CapturedMemory memory[] = {{0x1000, std::as_bytes(std::span(kCut)), true}};
  firing_.memory = memory;
  EXPECT_EQ(string_at(state_, address(kCut)), "cut");
}

TEST_F(MemoryAccessTest, ReadsOfTheProcessPreferWhatWasCaptured) {
  static const char kBytes[] = {'o', 'l', 'd', '!'};
  const CapturedMemory memory[] = {{0x1000, std::as_bytes(std::span(kBytes)), false}};
  firing_.memory = memory;
  host_.memory[0x1000] = "new bytes";
  char to[4];
  EXPECT_TRUE(read_target(state_, 0x1000, std::as_writable_bytes(std::span(to))));
  EXPECT_EQ(std::string(to, 4), "old!");
  EXPECT_EQ(host_.reads, 0u);
  EXPECT_TRUE(read_target(state_, 0x1002, std::as_writable_bytes(std::span(to))));
  EXPECT_EQ(std::string(to, 4), "w by");
  EXPECT_EQ(host_.reads, 1u);
  EXPECT_FALSE(read_target(state_, 0xffff'ffff'ffff'fffe, std::as_writable_bytes(std::span(to))));
}

// Wherever dvm itself lies: an address of the process is never taken for one of D memory.
TEST_F(MemoryAccessTest, TheProcessIsApartFromDMemory) {
  std::byte* mine = allocate_scratch(state_, 8);
  std::fill_n(mine, 8, std::byte{'m'});
  const auto same = reinterpret_cast<uint64_t>(mine);
  EXPECT_FALSE(load_bytes(state_, same, 8));
  EXPECT_EQ(state_.fault.value, same);
  host_.memory[same] = "theirs!!";
  state_.fault = {};
  EXPECT_EQ(string_at(state_, same, 6), "theirs");
  EXPECT_EQ(load_value<uint8_t>(state_, same), 't');
  EXPECT_FALSE(state_.faulted());
  EXPECT_FALSE(store_bytes(state_, same, 1));
  EXPECT_EQ(mine[0], std::byte{'m'});
  std::byte to[1];
  EXPECT_FALSE(read_target(state_, address(mine), to));
}

// Not even where its host would.
TEST_F(MemoryAccessTest, TheProcessIsNotAskedForDMemory) {
  const uint64_t mine = address(allocate_scratch(state_, 8));
  host_.memory[mine] = "host";
  std::byte to[4];
  EXPECT_FALSE(read_target(state_, mine, to));
  EXPECT_FALSE(write_target(state_, mine, to));
  EXPECT_FALSE(late_string(state_, mine, 4));
  EXPECT_EQ(host_.memory[mine], "host");
  EXPECT_EQ(host_.reads, 0u);
}

// Beside its NUL, which stays where it is. While it is read, there must be room for the longest.
TEST_F(MemoryAccessTest, ALateStringTakesNoMoreScratchThanItHasCharacters) {
  host_.memory[0x1000] = std::string("ab\0", 3);
  for (int i = 0; i < 8; i++) EXPECT_EQ(late_string(state_, 0x1000, 64), "ab");
  EXPECT_FALSE(late_string(state_, 0x1000, 64));
  EXPECT_EQ(state_.fault.id, dif::Fault::noscratch);
  state_.fault = {};
  state_.scratch_used = 0;
  host_.memory[0x2000] = std::string("12345678\0", 9);
  const auto text = late_string(state_, 0x2000, 16);
  std::byte* next = allocate_scratch(state_, 8);
  ASSERT_TRUE(text && next);
  std::fill_n(next, 8, std::byte{'x'});
  EXPECT_EQ(string_at(state_, address(text->data()), 16), "12345678");
}

TEST_F(MemoryAccessTest, ALateStringNeedsRoomForItsNul) {
  host_.memory[0x1000] = std::string("12345678\0", 9);
  allocate_scratch(state_, 120);
  EXPECT_FALSE(late_string(state_, 0x1000, 8));
  EXPECT_EQ(state_.fault.id, dif::Fault::noscratch);
}

TEST_F(MemoryAccessTest, StringsOfSubroutinesAreCutAtStrsize) {
  EXPECT_EQ(string_at(state_, scratch_string(state_, "0123456789"), 64), "01234567");
}

TEST_F(MemoryAccessTest, NullIsNotReadLate) {
  EXPECT_FALSE(load_bytes(state_, 0, 1));
  EXPECT_FALSE(string_at(state_, 0));
  EXPECT_EQ(load_value<int>(state_, 0), 0u);
  EXPECT_EQ(host_.reads, 0u);
}

// A part is never taken for the whole, and does not hide it.
TEST_F(MemoryAccessTest, TheLongestCaptureCounts) {
  static const char kWhole[] = "0123456789abcdef";
  const auto bytes = std::as_bytes(std::span(kWhole));
  const CapturedMemory memory[] = {
      {0x1000, bytes.first(8), false}, {0x1000, bytes.first(16), false}, {0x1004, bytes.subspan(4, 6), true}};
  firing_.memory = memory;
  char to[16];
  EXPECT_TRUE(read_target(state_, 0x1000, std::as_writable_bytes(std::span(to))));
  EXPECT_EQ(std::string(to, 16), "0123456789abcdef");
  EXPECT_EQ(host_.reads, 0u);
  const CapturedMemory longest_first[] = {memory[1], memory[0]};
  firing_.memory = longest_first;
  EXPECT_EQ(captured_at(state_, 0x1000).bytes.size(), 16u);
  firing_.memory = std::span(memory).first(1);
  host_.memory[0x1000] = "what is there now";
  EXPECT_TRUE(read_target(state_, 0x1000, std::as_writable_bytes(std::span(to))));
  EXPECT_EQ(std::string(to, 16), "what is there no");
  EXPECT_EQ(host_.reads, 1u);
  const std::byte* loaded = load_bytes(state_, 0x1000, 16);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(loaded), 16), "what is there no");
}

// The text lies at the end of its memory, so that nothing behind it can be read unnoticed.
TEST_F(MemoryAccessTest, AStringIsAsLongAsItsFirstNulSays) {
  for (size_t size = 0; size <= 90; size++)
    for (size_t nul = 0; nul <= size; nul++) {
      std::vector<char> text(size, size % 2 ? '\x80' : '\xff');
      if (nul < size) text[nul] = 0;
      if (nul + 2 < size) text[nul + 1] = 1, text[nul + 2] = 0;
      EXPECT_EQ(length_of({text.data(), size}), nul) << " of " << size;
    }
}

TEST_F(MemoryAccessTest, CapturedMemoryMayEndWithTheAddressSpace) {
  static const char kBytes[] = {'x', 'y'};
  const CapturedMemory memory[] = {{0xffff'ffff'ffff'fffe, std::as_bytes(std::span(kBytes)), false}};
  firing_.memory = memory;
  EXPECT_EQ(captured_at(state_, 0xffff'ffff'ffff'ffff).bytes.size(), 1u);
  EXPECT_TRUE(captured_at(state_, 0).bytes.empty());
}

}  // namespace

}  // namespace dvm::vm
