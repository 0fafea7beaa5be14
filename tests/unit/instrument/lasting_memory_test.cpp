// Memory that stays: constants of this program and of the libraries that it needs, and nothing that may be unmapped.

#include "runtime/agent/lasting_memory.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "runtime/agent/inside/read.h"

namespace dvm::runtime {
namespace {

const char kLiteral[] = "a constant of this program";
char variable[] = "a variable of it";

std::vector<inside::MemoryRange> ranges() {
  const auto mappings = mappings_of(getpid());
  return mappings ? lasting_memory(getpid(), *mappings).ranges : std::vector<inside::MemoryRange>{};
}

bool lasts(const void* at) {
  const auto all = ranges();
  const auto address = reinterpret_cast<uint64_t>(at);
  return std::any_of(all.begin(), all.end(), [&](auto& range) { return range.begin <= address && address < range.end; });
}

TEST(LastingMemory, IsOfTheProgramAndWhatItNeeds) {
  EXPECT_TRUE(lasts(kLiteral));
  EXPECT_TRUE(lasts(dlsym(RTLD_DEFAULT, "strerror")));
  EXPECT_FALSE(lasts(variable));
  const char local = 0;
  EXPECT_FALSE(lasts(&local));
  void* heap = std::malloc(10);
  EXPECT_FALSE(lasts(heap));
  std::free(heap);
}

TEST(LastingMemory, IsNotOfAnotherMappingOfTheFile) {
  const int file = open("/proc/self/exe", O_RDONLY);
  void* mapped = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  EXPECT_FALSE(lasts(mapped));
  munmap(mapped, 4096);
}

class Texts : public testing::Test {
 protected:
  Texts() {
    memory_.head.ranges = 1;
    memory_.range = {reinterpret_cast<uint64_t>(text_), reinterpret_cast<uint64_t>(text_ + sizeof text_)};
    context_.lasting = reinterpret_cast<uint64_t>(&memory_);
    context_.armed = reinterpret_cast<uint64_t>(&page_);
    page_.pid = static_cast<uint64_t>(getpid());
  }
  std::string read(const char* from, uint64_t most) {
    std::memset(words_, 0xff, sizeof words_);
    const uint32_t count = inside::read_text(context_, nullptr, stack_pointer_, reinterpret_cast<uint64_t>(from), words_, most);
    if (count == 0) return "none";
    const auto* text = reinterpret_cast<const char*>(words_);
    const std::string found(text, strnlen(text, 8 * count));
    EXPECT_EQ(count, found.size() / 8 + 1);
    EXPECT_TRUE(std::all_of(text + found.size(), text + 8 * count, [](char one) { return one == 0; }));
    return found;
  }
  struct {
    inside::LastingMemory head;
    inside::MemoryRange range;
  } memory_{};
  char text_[64] = {};
  uint64_t words_[40] = {};
  uint64_t stack_pointer_ = 0;
  inside::ArmedPage page_{};
  inside::Context context_{};
};

// By loads, and by the system call where these would lead out of the range.
TEST_F(Texts, AreReadToTheirEndOrCut) {
  const std::string all(sizeof text_ - 1, 'x');
  for (size_t begin = 0; begin < sizeof text_; begin++)
    for (size_t length = 0; begin + length < sizeof text_; length++) {
      std::memset(text_, 'y', sizeof text_);
      std::memcpy(text_ + begin, all.c_str(), length);
      text_[begin + length] = 0;
      for (const uint64_t most : {1, 7, 8, 9, 16, 40, 63})
        EXPECT_EQ(read(text_ + begin, most), all.substr(0, std::min(length, most)));
    }
}

TEST_F(Texts, WithBytesAboveTheSeventhBit) {
  std::strcpy(text_,
              "\x80\xff\x01gr\xc3\xbc\xc3\x9f"
              "e\x80");
  EXPECT_EQ(read(text_, 63), text_);
}

TEST_F(Texts, ThatCannotBeReadAreNone) {
  EXPECT_EQ(read(nullptr, 9), "none");
  EXPECT_EQ(read(reinterpret_cast<const char*>(uint64_t{1} << 63), 9), "none");
  page_.muted = 1;
  EXPECT_EQ(read(kLiteral, 9), "none");
  EXPECT_EQ(read(text_, 9), "");
}

TEST_F(Texts, OfTheStackLieAboveItsPointer) {
  memory_.head.ranges = 0, memory_.head.stack = memory_.range;
  page_.muted = 1;  // no system call
  std::strcpy(text_ + 10, "text");
  stack_pointer_ = reinterpret_cast<uint64_t>(text_ + 10);
  EXPECT_EQ(read(text_ + 10, 9), "text");
  EXPECT_EQ(read(text_ + 9, 9), "none");
  stack_pointer_ = memory_.range.end;  // another stack
  EXPECT_EQ(read(text_ + 10, 9), "none");
}

TEST(LastingMemory, EndsAtAGap) {
  auto mappings = mappings_of(getpid());
  ASSERT_TRUE(mappings);
  const auto code = reinterpret_cast<uint64_t>(&kLiteral);
  const auto found = std::find_if(mappings->begin(), mappings->end(),
                                  [&](const MemoryMapping& one) { return one.range.begin <= code && code < one.range.end; });
  ASSERT_NE(found, mappings->end());
  const auto is_in_range = [&](uint64_t address) {
    const auto all = lasting_memory(getpid(), *mappings).ranges;
    return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.begin <= address && address < one.end; });
  };
  EXPECT_TRUE(is_in_range(code));
  found->range.begin += 1, found->range.end -= 1;  // away from the code
  EXPECT_FALSE(is_in_range(code));
}

TEST(LastingMemory, TakesTheRoomThatTheStackMayGrowInto) {
  constexpr uint64_t kEnd = 0x7fff'0000'0000, kNear = 8 << 20;
  const auto stack = [](uint64_t bytes) {
    MemoryMapping mapping;
    mapping.range = {kEnd - bytes, kEnd}, mapping.path = "[stack]";
    return lasting_memory(getpid(), {mapping}).stack;
  };
  EXPECT_EQ(stack(0x21000).begin, kEnd - kNear);
  EXPECT_EQ(stack(2 * kNear).begin, kEnd - 2 * kNear);
  EXPECT_EQ(stack(0x21000).end, kEnd);
}

TEST(LastingMemory, KnowsTheStackOfTheFirstThread) {
  const auto mappings = mappings_of(getpid());
  ASSERT_TRUE(mappings);
  const auto frame = reinterpret_cast<uint64_t>(__builtin_frame_address(0));  // a sanitizer puts variables elsewhere
  EXPECT_TRUE(inside::is_in(lasting_memory(getpid(), *mappings).stack, frame));
}

}  // namespace
}  // namespace dvm::runtime
