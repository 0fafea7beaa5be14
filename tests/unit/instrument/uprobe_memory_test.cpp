// Memory that the uprobe instrument captures at a firing.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "tests/unit/instrument/uprobe_fixture.h"

namespace dvm::runtime {
namespace {

// A file of two pages, mapped and never touched by the child before the call.
class Untouched {
 public:
  explicit Untouched(const std::string& text, size_t at) {
    char name[] = "/tmp/dvm-untouched-XXXXXX";
    const int file = mkstemp(name);
    unlink(name);
    EXPECT_EQ(ftruncate(file, 8192), 0);
    EXPECT_EQ(pwrite(file, text.c_str(), text.size() + 1, static_cast<off_t>(at)), static_cast<ssize_t>(text.size() + 1));
    map_ = mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE, file, 0);
    at_ = at;
    close(file);
  }
  ~Untouched() { munmap(map_, 8192); }
  const char* text() const { return static_cast<const char*>(map_) + at_; }
  bool is_present() const {
    unsigned char pages[2] = {};
    return mincore(map_, 8192, pages) == 0 && (pages[0] & 1);
  }

 private:
  void* map_;
  size_t at_;
};

CaptureNeeds string_needs(uint32_t size) {
  CaptureNeeds needs;
  needs.args = 1;
  needs.memory = {{0, true, 0, size}};
  return needs;
}

TEST_F(Uprobe, StringsOfPagesThatAreNotPresentAreReadAtTheFirstCall) {
  const Untouched first("in the first page", 100), second("from one page into the other", 4096 - 10);
  TracedChild child({[&] {
    traced_text(first.text());
    traced_text(second.text());
    traced_text("present");
  }});
  const Probe probe = probe_on(child.pid(), &traced_text, 1);
  const auto seen = trace(child, {{&probe, string_needs(256)}});
  ASSERT_EQ(seen.size(), 3u);
  for (const Seen& one : seen) ASSERT_EQ(one.memory.size(), 1u);
  EXPECT_EQ(seen[0].memory[0], with_nul("in the first page"));
  EXPECT_EQ(seen[0].addresses[0], reinterpret_cast<uintptr_t>(first.text()));
  EXPECT_EQ(seen[1].memory[0], with_nul("from one page into the other"));
  EXPECT_EQ(seen[2].memory[0], with_nul("present"));
}

TEST_F(Uprobe, BytesOfPagesThatAreNotPresent) {
  const Untouched untouched("0123456789abcdef", 4096 - 8);
  TracedChild child({[&] { traced_text(untouched.text()); }});
  const Probe probe = probe_on(child.pid(), &traced_text, 1);
  CaptureNeeds needs;
  needs.memory = {{0, false, 4, 10}, {0, false, 0, 1}};
  const auto seen = trace(child, {{&probe, needs}});
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].memory, (std::vector<std::string>{"456789abcd", "0"}));
  EXPECT_EQ(seen[0].addresses[0], reinterpret_cast<uintptr_t>(untouched.text()) + 4);
}

// Too large for the BPF stack, so made in the ring and given back while a page is faulted in.
TEST_F(Uprobe, LargeRecordsOfPagesThatAreNotPresent) {
  const Untouched first("first", 4096 - 3), second("second", 4096 - 3);
  TracedChild child({[&] {
    traced_ten(reinterpret_cast<long>(first.text()), reinterpret_cast<long>(second.text()), 0x10, 0, 0, 0, 7, 0, 0, 0);
  }});
  const Probe probe = probe_on(child.pid(), &traced_ten, 1);
  CaptureNeeds needs;
  needs.args = 1 << 6;
  needs.memory = {{0, true, 0, 1000}, {1, true, 0, 4096}, {2, true, 0, 16}, {0, false, 0, 4}};
  const auto seen = trace(child, {{&probe, needs}});
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].memory, (std::vector<std::string>{"firs", with_nul("first"), with_nul("second")}));
  EXPECT_EQ(seen[0].firing.args[6], 7u);
}

// The most that needs_of() asks for passes the kernel's verifier.
TEST_F(Uprobe, TheLargestNeeds) {
  static const char text[8192] = "text";
  TracedChild child({[] { traced_ten(reinterpret_cast<long>(text), 0, 0, 0, 0, 0, 0, 0, 0, 0); }});
  const Probe probe = probe_on(child.pid(), &traced_ten, 1);
  CaptureNeeds few_large, many_small;
  few_large.args = many_small.args = 0x3ff;
  few_large.time = few_large.thread = few_large.cpu = few_large.comm = true;
  for (int i = 0; i < 4; i++) few_large.memory.push_back({0, i % 2 == 0, 8 * i, 4096});
  for (int i = 0; i < 16; i++) many_small.memory.push_back({0, i % 2 == 0, i, 32});
  CaptureNeeds chains, sizes;
  chains.args = sizes.args = 0x3ff;
  const Word words[] = {9, Word(9).load(0), Word(9).load(8).load(8), Word(9).load(8).load(8).load(0).load(64)};
  for (int i = 0; i < 3; i++)
    for (const Word& word : words) chains |= {.memory = {{word, i % 2 == 0, 64 * i, 900}}};
  for (int i = 0; i < 16; i++) sizes.memory.push_back({0, i % 2 == 0, i, 512, Word(static_cast<uint8_t>(i % 9 + 1))});
  EXPECT_EQ(chains.memory.size(), 16u);
  EXPECT_EQ(trace(child, {{&probe, chains}}).size(), 1u);
  EXPECT_EQ(trace(child, {{&probe, sizes}}).size(), 1u);
  EXPECT_EQ(trace(child, {{&probe, few_large}}).at(0).memory.size(), 4u);
  EXPECT_EQ(trace(child, {{&probe, many_small}}).at(0).memory.size(), 16u);
}

// Texts behind pointers. The parameter: whether the record is so large that it is made in the ring.
class UprobePointers : public Uprobe, public testing::WithParamInterface<bool> {
 protected:
  // What is captured of `a` points to the words; an unreadable slot before them must not keep their pages away.
  std::vector<Seen> through(const std::vector<const void*>& words, const Word& last) {
    TracedChild child({[&] {
      for (const void* word : words) traced_ten(reinterpret_cast<long>(word), 0x7000'0000'0000, 0, 0, 0, 0, 0, 0, 0, 0);
    }});
    const Probe probe = probe_on(child.pid(), &traced_ten, 1);
    CaptureNeeds needs, one;
    needs.memory = {{1, false, 0, GetParam() ? 512u : 8u}};
    one.memory = {{last, true, 3, 64}};
    needs |= one;
    return trace(child, {{&probe, needs}});
  }
};
INSTANTIATE_TEST_SUITE_P(OnStackAndInRing, UprobePointers, testing::Bool());

std::string word_as_text(const void* pointer) {
  std::string text(8, '\0');
  std::memcpy(text.data(), &pointer, 8);
  return text;
}

TEST_P(UprobePointers, ThroughOneOnPagesThatAreNotPresent) {
  const Untouched text("by a pointer", 4096 - 5), inner(word_as_text(text.text()), 4096 - 4);
  const auto one = through({inner.text()}, Word(0).load(0));
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].memory, (std::vector{word_as_text(text.text()), with_nul("a pointer")}));
  EXPECT_EQ(one[0].addresses[1], reinterpret_cast<uintptr_t>(text.text()) + 3);
}

TEST_P(UprobePointers, ThroughTwoOnPagesThatAreNotPresent) {
  const Untouched text("by two pointers", 4096 - 5), inner(word_as_text(text.text()), 4096 - 4);
  const Untouched outer(word_as_text(inner.text() - 8), 16);
  const auto two = through({outer.text() - 8}, Word(0).load(8).load(8));
  ASSERT_EQ(two.size(), 1u);
  EXPECT_EQ(two[0].memory, (std::vector{word_as_text(inner.text() - 8), word_as_text(text.text()), with_nul("two pointers")}));
}

TEST_P(UprobePointers, APointerThatCannotBeReadLeavesTheRestAbsent) {
  static const void* const null = nullptr;
  static const void* const wild = reinterpret_cast<const void*>(0x7000'0000'0000);
  static const char* const good = "so good";
  static const void* const to_null = &null;
  static const void* const to_good = &good;
  const auto seen = through({nullptr, wild, &null, &wild, &to_null, &to_good}, Word(0).load(0).load(0));
  ASSERT_EQ(seen.size(), 6u);
  EXPECT_TRUE(seen[0].memory.empty());
  EXPECT_TRUE(seen[1].memory.empty());
  EXPECT_EQ(seen[2].memory, std::vector{word_as_text(null)});
  EXPECT_EQ(seen[3].memory, std::vector{word_as_text(wild)});
  EXPECT_EQ(seen[4].memory, (std::vector{word_as_text(&null), word_as_text(null)}));
  EXPECT_EQ(seen[5].memory, (std::vector{word_as_text(&good), word_as_text(good), with_nul("good")}));
}

// write(2)'s buffer: as much as was said, up to the most; other slots keep what they are.
TEST_F(Uprobe, BytesAndStringsThatAreSizedByAnArgument) {
  static const std::string text = "hello, world" + std::string(400, '.');
  const Untouched untouched("untouched", 4096 - 4);
  TracedChild child({[&] {
    for (const long size : {5L, 0L, 64L, 65L, -1L}) traced_ten(reinterpret_cast<long>(text.data()), size, 0, 0, 0, 0, 0, 0, 0, 0);
    traced_ten(reinterpret_cast<long>(untouched.text()), 9, 0, 0, 0, 0, 0, 0, 0, 0);
    traced_ten(0x10, 9, 0, 0, 0, 0, 0, 0, 0, 0);
    traced_ten(0x7000'0000'0000, 9, 0, 0, 0, 0, 0, 0, 0, 0);
  }});
  const Probe probe = probe_on(child.pid(), &traced_ten, 1);
  const auto lengths = [&](const CaptureNeeds& needs) {
    std::vector<std::vector<size_t>> all;
    for (const Seen& seen : trace(child, {{&probe, needs}})) {
      all.emplace_back();
      for (const std::string& memory : seen.memory) {
        all.back().push_back(memory.size());
        EXPECT_TRUE(text.compare(0, memory.size(), memory) == 0 || with_nul("untouched").compare(0, memory.size(), memory) == 0);
      }
    }
    return all;
  };
  CaptureNeeds bytes, string, both;
  bytes.memory = {{0, false, 0, 64, Word(1)}};
  string.memory = {{0, true, 0, 64, Word(1)}};
  using Lengths = std::vector<std::vector<size_t>>;
  EXPECT_EQ(lengths(bytes), (Lengths{{5}, {}, {64}, {64}, {64}, {9}, {}, {}}));
  EXPECT_EQ(lengths(string), (Lengths{{4}, {}, {63}, {63}, {63}, {8}, {}, {}}));
  both.memory = {bytes.memory[0], string.memory[0]};
  const Lengths of_both{{5, 4}, {}, {64, 63}, {64, 63}, {64, 63}, {9, 8}, {}, {}};
  EXPECT_EQ(lengths(both), of_both);
  both.memory.push_back({2, false, 0, 1000});  // and in the ring
  EXPECT_EQ(lengths(both), of_both);
}

// struct iovec: address and size are both words in memory.
TEST_F(Uprobe, AddressAndSizeFromMemory) {
  static const struct {
    const char* base;
    size_t length;
  } vectors[] = {{"abcdef", 4}, {"ghi", 0}, {nullptr, 3}};
  TracedChild child({[] {
    for (const auto& vector : vectors) traced_text(reinterpret_cast<const char*>(&vector));
  }});
  const Probe probe = probe_on(child.pid(), &traced_text, 1);
  CaptureNeeds needs;
  needs.memory = {{0, false, 0, 16}, {Word(0).load(0), false, 0, 256, Word(0).load(8)}};
  const auto seen = trace(child, {{&probe, needs}});
  ASSERT_EQ(seen.size(), 3u);
  ASSERT_EQ(seen[0].memory.size(), 2u);
  EXPECT_EQ(seen[0].memory[1], "abcd");
  EXPECT_EQ(seen[0].addresses[1], reinterpret_cast<uintptr_t>(vectors[0].base));
  EXPECT_EQ(seen[1].memory.size(), 1u);
  EXPECT_EQ(seen[2].memory.size(), 1u);
}

TEST_F(Uprobe, MemoryThatCannotBeReadIsAbsentAndTheFiringIsNot) {
  TracedChild child({[] {
    traced_text(nullptr);
    traced_text(reinterpret_cast<const char*>(0x10));
    traced_text(reinterpret_cast<const char*>(0x7000'0000'0000));
    traced_text(reinterpret_cast<const char*>(0xffff'ffff'8000'0000));
    traced_text("");
    traced_text("good");
  }});
  const Probe probe = probe_on(child.pid(), &traced_text, 1);
  const auto seen = trace(child, {{&probe, string_needs(256)}});
  ASSERT_EQ(seen.size(), 6u);
  for (size_t i = 0; i < 4; i++) EXPECT_TRUE(seen[i].memory.empty()) << i;
  EXPECT_EQ(seen[2].unreadable, std::vector<uint64_t>{0x7000'0000'0000});
  EXPECT_EQ(seen[3].firing.args[0], 0xffff'ffff'8000'0000);
  EXPECT_EQ(seen[4].memory, std::vector{with_nul("")});
  EXPECT_EQ(seen[5].memory, std::vector{with_nul("good")});
}

// Its first bytes are captured if the rest cannot be read. Pages that are only not present are no such case.
TEST_F(Uprobe, MemoryThatEndsInTheMiddle) {
  const Untouched untouched("0123456789", 4096 - 5);
  auto* pages = static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  char* last = pages + 4096 - 5;
  std::memcpy(last, "abcde", 5);
  mprotect(pages + 4096, 4096, PROT_NONE);
  TracedChild child({[&] {
    traced_text(untouched.text());
    traced_text(last);
  }});
  const Probe probe = probe_on(child.pid(), &traced_text, 1);
  CaptureNeeds bytes, many;
  bytes.memory = {{0, false, 0, 8}};
  many.memory = {{0, false, 0, 600}};
  for (const CaptureNeeds& needs : {string_needs(8), string_needs(256), string_needs(600), bytes, many}) {
    const auto seen = trace(child, {{&probe, needs}});
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_TRUE(seen[0].unreadable.empty());
    EXPECT_EQ(seen[1].memory, std::vector<std::string>{"abcde"});
    EXPECT_EQ(seen[1].unreadable, std::vector{reinterpret_cast<uint64_t>(pages) + 4096});
  }
  munmap(pages, 8192);
}

// Its last bytes are captured if the first ones cannot be read; those of a string, which another might begin with, are not.
TEST_F(Uprobe, MemoryThatBeginsInTheMiddle) {
  auto* pages = static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  char* first = pages + 4096 - 5;
  std::memcpy(pages + 4096, "abc", 3);
  mprotect(pages, 4096, PROT_NONE);
  TracedChild child({[&] { traced_text(first); }});
  const Probe probe = probe_on(child.pid(), &traced_text, 1);
  CaptureNeeds bytes, many;
  bytes.memory = {{0, false, 0, 8}};
  many.memory = {{0, false, 0, 600}};
  for (const CaptureNeeds& needs : {string_needs(256), bytes, many}) {
    const auto seen = trace(child, {{&probe, needs}});
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0].unreadable, std::vector{reinterpret_cast<uint64_t>(first)});
    if (needs.memory[0].is_string) {
      EXPECT_TRUE(seen[0].memory.empty());
      continue;
    }
    ASSERT_EQ(seen[0].memory.size(), 1u);
    EXPECT_EQ(seen[0].memory[0], std::string(pages + 4096, needs.memory[0].size - 5));
    EXPECT_EQ(seen[0].addresses[0], reinterpret_cast<uint64_t>(pages) + 4096);
  }
  munmap(pages, 8192);
}

// As where the probe that would keep it is on already, or is another instrument's.
TEST_F(Uprobe, MemoryAtAWordThatNothingKeepsIsAbsent) {
  TracedChild child({[] { traced_text("text"); }});
  const Probe probe = probe_on(child.pid(), &traced_text, 1);
  CaptureNeeds at_kept, sized_by_kept = string_needs(16);
  at_kept.memory = {{Word::of_kept(3), true, 0, 16}};
  sized_by_kept.memory[0] = {0, false, 0, 16, Word::of_kept(3)};
  for (const CaptureNeeds& needs : {at_kept, sized_by_kept}) {
    const auto seen = trace(child, {{&probe, needs}});
    ASSERT_EQ(seen.size(), 1u);
    for (const std::string& bytes : seen[0].memory) EXPECT_EQ(bytes, "");
  }
}

TEST_F(Uprobe, AStringThatIsCutHasNoNul) {
  TracedChild child({[] {
    traced_text("0123456789");
    traced_text("012345");
  }});
  const Probe probe = probe_on(child.pid(), &traced_text, 1);
  const auto seen = trace(child, {{&probe, string_needs(8)}});
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].memory, std::vector<std::string>{"0123456"});
  EXPECT_EQ(seen[1].memory, std::vector{with_nul("012345")});
}

TEST_F(Uprobe, MemoryOfTheReturnValueAndOfAStackArgument) {
  static const char text[] = "by a pointer";
  const auto pointer = reinterpret_cast<long>(text);
  TracedChild child({[=] {
    traced_text(text);
    traced_ten(0, 0, 0, 0, 0, 0, 0, pointer, 0, 0);
  }});
  const Probe leave = probe_on(child.pid(), &traced_text, 1, true), ten = probe_on(child.pid(), &traced_ten, 2);
  CaptureNeeds of_return, of_stack;
  of_return.memory = {{1, true, 3, 64}};
  of_stack.memory = {{7, true, 0, 64}};
  const auto seen = trace(child, {{&leave, of_return}, {&ten, of_stack}});
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].memory, std::vector{with_nul("a pointer")});
  EXPECT_EQ(seen[1].memory, std::vector{with_nul("by a pointer")});
}

}  // namespace
}  // namespace dvm::runtime
