// The uprobe instrument on a live process: a forked child that calls the functions below on demand. Needs root (or CAP_BPF and
// CAP_PERFMON) and a kernel with uprobe_multi; elsewhere these tests are skipped.
#include "runtime/instrument/uprobe/uprobe.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <thread>

#include "common/clock.h"
#include "runtime/instrument/uprobe/cpu_clock.h"
#include "tests/support/skip.h"
#include "tests/support/tracing_privilege.h"
#include "tests/unit/instrument/traced_child.h"

// The functions that are traced. Volatile reads and writes keep each call and each argument.
extern "C" {
volatile long traced_sink;
__attribute__((noinline)) long traced_plain(long a) {
  traced_sink = a;
  return a * 2;
}
__attribute__((noinline)) long traced_second(long a) {
  traced_sink = a;
  return a * 3;
}
__attribute__((noinline)) long traced_ten(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) {
  traced_sink = a + b + c + d + e + f + g + h + i + j;
  return traced_sink;
}
__attribute__((noinline)) long traced_text(const char* text) {
  traced_sink = reinterpret_cast<long>(text);
  return traced_sink;
}
// Their first instructions are not probed by the kernel: one has a lock prefix, the other does not exist in 64-bit mode.
void traced_locked();
void traced_invalid();
asm(".pushsection .text\n.globl traced_locked\n.type traced_locked, @function\ntraced_locked:\n"
    "lock addq $1, (%rsp)\nlock subq $1, (%rsp)\nret\n.size traced_locked, . - traced_locked\n"
    ".globl traced_invalid\n.type traced_invalid, @function\ntraced_invalid:\n"
    ".byte 0x06\nret\n.size traced_invalid, . - traced_invalid\n.popsection");
// With a place inside, where the arguments lie as the test below says.
long traced_inside(const int* numbers, long, long, long, long, long, long seventh, long eighth);
void traced_inside_here();
asm(".pushsection .text\n.globl traced_inside\n.type traced_inside, @function\ntraced_inside:\n"
    "push %rbx\npush %rbp\nmovabs $0x123456789abcdef0, %rax\nmov $2, %ecx\n"
    ".globl traced_inside_here\ntraced_inside_here:\nnop\n"
    "pop %rbp\npop %rbx\nret\n.size traced_inside, . - traced_inside\n.popsection");
}

namespace dvm::runtime {
namespace {

using test::file_offset;
using test::memory_of;
using test::TracedChild;

struct Seen {
  vm::Firing firing;
  std::string execname;
  std::vector<std::string> memory;
  std::vector<uint64_t> addresses;
  std::vector<uint64_t> callers;
};

class Collector final : public EventSink {
 public:
  bool fire(vm::Firing& firing) noexcept override {
    Seen seen{firing, std::string(firing.execname), {}, {}, {firing.stack.begin(), firing.stack.end()}};
    for (const vm::CapturedMemory& captured : firing.memory) {
      seen.memory.emplace_back(reinterpret_cast<const char*>(captured.bytes.data()), captured.bytes.size());
      seen.addresses.push_back(captured.address);
    }
    all.push_back(std::move(seen));
    return true;
  }
  std::vector<Seen> all;
};

class Counter final : public EventSink {
 public:
  bool fire(vm::Firing& firing) noexcept override { return count[firing.probe_id]++, true; }
  std::map<uint32_t, uint64_t> count;
};

const void* address_of(auto* function) { return reinterpret_cast<const void*>(function); }

Probe probe_on(pid_t pid, auto* function, uint32_t id, bool is_return = false) {
  Probe probe;
  probe.id = id;
  probe.module = "uprobe_test";
  probe.function = "traced";
  probe.site = UprobeSite{"/proc/" + std::to_string(pid) + "/exe", file_offset(address_of(function)), is_return, pid};
  return probe;
}

std::string with_nul(const std::string& text) { return text + '\0'; }

class Uprobe : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = dvm::test::why_no_uprobes(); !missing.empty()) DVM_SKIP(missing);
    TracedChild child({[] { traced_plain(1); }});
    const Probe probe = probe_on(child.pid(), &traced_plain, 1);
    auto instrument = make_uprobe_instrument();
    const Status status = instrument->enable(std::array{EnabledProbe{&probe, {}}}, refused_);
    ASSERT_TRUE(status) << status.error().message;
  }

  // Enables the probes, runs job 0 of the child once and takes everything off again.
  std::vector<Seen> trace(TracedChild& child, std::vector<EnabledProbe> probes) {
    auto instrument = make_uprobe_instrument();
    const Status status = instrument->enable(probes, refused_);
    EXPECT_TRUE(status) << status.error().message;
    EXPECT_TRUE(child.call(0));
    instrument->disable();
    Collector collector;
    EXPECT_TRUE(instrument->poll(collector));
    EXPECT_EQ(instrument->drops(), 0u);
    return collector.all;
  }

  std::vector<Refused> refused_;
};

TEST_F(Uprobe, EveryCallFiresOnce) {
  constexpr long kCalls = 100'000;
  TracedChild child({[] {
    for (long i = 0; i < kCalls; i++) traced_plain(i);
  }});
  const Probe probe = probe_on(child.pid(), &traced_plain, 7);
  auto instrument = make_uprobe_instrument();
  ASSERT_TRUE(instrument->takes(probe));
  ASSERT_TRUE(instrument->enable(std::array{EnabledProbe{&probe, {}}}, refused_));
  ASSERT_TRUE(child.call(0));
  Counter counter;
  const auto polled = instrument->poll(counter);
  ASSERT_TRUE(polled);
  EXPECT_EQ(*polled, kCalls);
  EXPECT_EQ(counter.count[7], kCalls);
  EXPECT_EQ(instrument->drops(), 0u);
  EXPECT_TRUE(refused_.empty());

  instrument->disable();
  ASSERT_TRUE(child.call(0));
  EXPECT_EQ(*instrument->poll(counter), 0u);
  ASSERT_TRUE(instrument->enable(std::array{EnabledProbe{&probe, {}}}, refused_));  // and on again
  ASSERT_TRUE(child.call(0));
  EXPECT_EQ(*instrument->poll(counter), kCalls);
}

TEST_F(Uprobe, TenArgumentsAndTheReturnValue) {
  TracedChild child({[] { traced_ten(1, -2, 3, 4, 5, 6, 70, 80, 90, 1'000'000'007); }});
  const Probe entry = probe_on(child.pid(), &traced_ten, 1), leave = probe_on(child.pid(), &traced_ten, 2, true);
  CaptureNeeds all;
  all.args = 0x3ff;
  const auto seen = trace(child, {{&entry, all}, {&leave, all}});
  ASSERT_EQ(seen.size(), 2u);
  const decltype(vm::Firing::args) expected = {1, static_cast<uint64_t>(-2), 3, 4, 5, 6, 70, 80, 90, 1'000'000'007};
  EXPECT_EQ(seen[0].firing.probe_id, 1u);
  EXPECT_EQ(seen[0].firing.args, expected);
  EXPECT_EQ(seen[1].firing.probe_id, 2u);
  EXPECT_EQ(seen[1].firing.args[0], 0u);
  EXPECT_EQ(seen[1].firing.args[1], 1'000'000'007u + 257);
  EXPECT_EQ(seen[1].firing.args[2], 0u);
}

constexpr std::array<int, 5> kNumbers = {1, 2, 3, 4, -5};

TEST_F(Uprobe, OperandsInsideAFunction) {
  TracedChild child({[] { traced_inside(kNumbers.data(), 1, 2, 3, 4, 5, 6, 7); }});
  Operands operands;
  operands[0] = Operand::constant(-7);
  operands[1] = {.kind = Operand::Kind::saved, .base = saved::rax, .size = 1, .shift = 8};  // %ah
  operands[2] = {.kind = Operand::Kind::saved, .base = saved::rax, .size = 2, .is_signed = true};
  operands[3] = {.kind = Operand::Kind::saved, .base = saved::rax, .size = 4};
  operands[4] = {.kind = Operand::Kind::memory,  // -4(%rdi,%rcx,4)
                 .base = saved::rdi,
                 .index = saved::rcx,
                 .scale = 4,
                 .size = 4,
                 .value = -4};
  operands[5] = {.kind = Operand::Kind::memory, .base = saved::rdi, .size = 4, .is_signed = true, .value = 16};
  operands[6] = {.kind = Operand::Kind::memory, .size = 4, .value = reinterpret_cast<int64_t>(&kNumbers[2])};
  Probe probe = probe_on(child.pid(), &traced_inside_here, 1);
  std::get<UprobeSite>(probe.site).inside = operands;
  CaptureNeeds all;
  all.args = 0x3ff;
  const auto seen = trace(child, {{&probe, all}});
  ASSERT_EQ(seen.size(), 1u);
  const decltype(vm::Firing::args) expected = {
      static_cast<uint64_t>(-7), 0xde, 0xffffffffffffdef0, 0x9abcdef0, 2, static_cast<uint64_t>(-5), 3, 0, 0, 0};
  EXPECT_EQ(seen[0].firing.args, expected);
}

TEST_F(Uprobe, AnEntryAfterTheStackHasMoved) {
  TracedChild child({[] { traced_inside(kNumbers.data(), 1, 2, 3, 4, 5, 60, 70); }});
  const Probe entry = probe_on(child.pid(), &traced_inside, 1);
  Probe moved = probe_on(child.pid(), &traced_inside_here, 2);
  std::get<UprobeSite>(moved.site).stack_moved = 16;
  CaptureNeeds needs;
  needs.args = 0b11000011;
  needs.frames = 4;
  const auto seen = trace(child, {{&entry, needs}, {&moved, needs}});
  ASSERT_EQ(seen.size(), 2u);
  for (const Seen& each : seen) {
    EXPECT_EQ(each.firing.args[1], 1u);
    EXPECT_EQ(each.firing.args[6], 60u);
    EXPECT_EQ(each.firing.args[7], 70u);
  }
  const auto caller = [](const Seen& at) { return at.callers.size() > 1 ? at.callers[1] : 0; };
  EXPECT_EQ(caller(seen[0]), caller(seen[1]));
  EXPECT_NE(caller(seen[0]), 0u);
}

TEST_F(Uprobe, ContextOfTheThread) {
  TracedChild child({[] { traced_plain(1); }});
  const Probe probe = probe_on(child.pid(), &traced_plain, 3);
  CaptureNeeds needs;
  needs.time = needs.thread = needs.cpu = needs.comm = true;
  timespec before, wall;
  clock_gettime(CLOCK_MONOTONIC, &before);
  clock_gettime(CLOCK_REALTIME, &wall);
  const auto seen = trace(child, {{&probe, needs}});
  ASSERT_EQ(seen.size(), 1u);
  const vm::Firing& firing = seen[0].firing;
  EXPECT_EQ(firing.pid, child.pid());
  EXPECT_EQ(firing.tid, child.pid());
  EXPECT_GE(firing.cpu, 0);
  EXPECT_LT(firing.cpu, sysconf(_SC_NPROCESSORS_CONF));
  EXPECT_EQ(seen[0].execname, std::string(program_invocation_short_name).substr(0, 15));
  const uint64_t start = static_cast<uint64_t>(before.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(before.tv_nsec);
  EXPECT_GE(firing.timestamp, start);
  EXPECT_LT(firing.timestamp, start + 10'000'000'000);
  EXPECT_NEAR(static_cast<double>(firing.walltimestamp) / 1e9, static_cast<double>(wall.tv_sec), 10);
}

TEST_F(Uprobe, TheProcessIsKnownEvenIfItWasNotCaptured) {
  TracedChild child({[] { traced_plain(1); }});
  const Probe probe = probe_on(child.pid(), &traced_plain, 3);
  const auto seen = trace(child, {{&probe, {}}});
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].firing.pid, child.pid());
}

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
  EXPECT_EQ(seen[3].firing.args[0], 0xffff'ffff'8000'0000);
  EXPECT_EQ(seen[4].memory, std::vector{with_nul("")});
  EXPECT_EQ(seen[5].memory, std::vector{with_nul("good")});
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

// What the child and the test both see.
struct Shared {
  std::atomic<int> ready, go;
};

TEST_F(Uprobe, ThreadsThatRanBeforeAreTracedToo) {
  constexpr int kThreads = 4, kCalls = 5'000;
  void* page = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto* shared = new (page) Shared{};
  TracedChild child({[shared] {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; i++)
      threads.emplace_back([shared] {
        shared->ready++;
        while (!shared->go) usleep(100);
        for (int call = 0; call < kCalls; call++) traced_plain(call);
      });
    for (std::thread& thread : threads) thread.join();
  }});
  const Probe probe = probe_on(child.pid(), &traced_plain, 1);
  CaptureNeeds needs;
  needs.thread = true;
  auto instrument = make_uprobe_instrument();
  ASSERT_TRUE(child.start(0));
  while (shared->ready < kThreads) usleep(100);
  ASSERT_TRUE(instrument->enable(std::array{EnabledProbe{&probe, needs}}, refused_));
  shared->go = 1;
  ASSERT_TRUE(child.finish());
  munmap(page, sizeof(Shared));
  Collector collector;
  ASSERT_TRUE(instrument->poll(collector));
  std::map<int32_t, int> by_thread;
  for (const Seen& seen : collector.all) by_thread[seen.firing.tid]++;
  EXPECT_EQ(by_thread.size(), static_cast<size_t>(kThreads));
  for (const auto& [tid, count] : by_thread) EXPECT_EQ(count, kCalls) << tid;
}

TEST_F(Uprobe, SeveralProcessesAndProbesAtOnce) {
  const auto job = [] {
    for (int i = 0; i < 10; i++) traced_plain(i);
    traced_second(1);
  };
  TracedChild one({job}), two({job}), untraced({job});
  const Probe a = probe_on(one.pid(), &traced_plain, 1), b = probe_on(two.pid(), &traced_plain, 2),
              c = probe_on(two.pid(), &traced_second, 3), d = probe_on(two.pid(), &traced_second, 4, true);
  CaptureNeeds first;
  first.args = 1;
  auto instrument = make_uprobe_instrument();
  ASSERT_TRUE(instrument->enable(std::vector<EnabledProbe>{{&a, first}, {&b, {}}, {&c, first}, {&d, {}}}, refused_));
  for (TracedChild* child : {&one, &two, &untraced}) ASSERT_TRUE(child->call(0));
  Counter counter;
  ASSERT_TRUE(instrument->poll(counter));
  EXPECT_EQ(counter.count, (std::map<uint32_t, uint64_t>{{1, 10}, {2, 10}, {3, 1}, {4, 1}}));
}

TEST_F(Uprobe, WhatFindsNoRoomIsCounted) {
  constexpr int kCalls = 10'000;
  TracedChild child({[] {
    for (int i = 0; i < kCalls; i++) traced_plain(i);
  }});
  const Probe probe = probe_on(child.pid(), &traced_plain, 1);
  UprobeOptions small;
  small.ring_bytes = 4096;
  auto instrument = make_uprobe_instrument(small);
  ASSERT_TRUE(instrument->enable(std::array{EnabledProbe{&probe, {}}}, refused_));
  Counter counter;
  for (uint64_t round = 1; round <= 3; round++) {
    ASSERT_TRUE(child.call(0));
    ASSERT_TRUE(instrument->poll(counter));
    EXPECT_GT(instrument->drops(), 0u);
    EXPECT_EQ(counter.count[1] + instrument->drops(), round * kCalls);
    uint64_t drops = 0;
    for (uint32_t cpu = 0; cpu < 1024; cpu++) drops += instrument->abilities().losses->drops_on(cpu);
    EXPECT_EQ(drops, instrument->drops());
  }
}

TEST_F(Uprobe, FunctionsThatCannotBeProbedAreLeftOutAlone) {
  TracedChild child({[] {
    traced_plain(1);
    traced_locked();
    traced_second(1);
    traced_text("");
  }});
  const Probe good = probe_on(child.pid(), &traced_plain, 1), locked = probe_on(child.pid(), &traced_locked, 2),
              invalid = probe_on(child.pid(), &traced_invalid, 3), second = probe_on(child.pid(), &traced_second, 4),
              text = probe_on(child.pid(), &traced_text, 5);
  auto instrument = make_uprobe_instrument();
  const Status status = instrument->enable(
      std::vector<EnabledProbe>{{&good, {}}, {&locked, {}}, {&invalid, {}}, {&second, {}}, {&text, {}}}, refused_);
  ASSERT_TRUE(status) << status.error().message;
  std::set<const Probe*> refused;
  for (const Refused& one : refused_) {
    refused.insert(one.probe);
    EXPECT_NE(one.reason.find("cannot put a probe on this instruction"), std::string::npos) << one.reason;
  }
  EXPECT_EQ(refused, (std::set<const Probe*>{&locked, &invalid}));
  ASSERT_TRUE(child.call(0));
  Counter counter;
  ASSERT_TRUE(instrument->poll(counter));
  EXPECT_EQ(counter.count, (std::map<uint32_t, uint64_t>{{1, 1}, {4, 1}, {5, 1}}));
}

// Whatever else the machine does, a firing's CPU time lies between what the thread reads before it and after it. Half a ms is
// allowed for what the clock leaves out (cpu_clock.h): interrupts and a hypervisor's pauses since the scheduler last looked.
TEST_F(Uprobe, VirtualTimeLiesBetweenTheThreadsClockBeforeAndAfter) {
  constexpr int64_t kAllowed = 500'000;
  constexpr size_t kTimes = 200;
  TracedChild child({[] {
    const auto cpu_time = [] { return static_cast<long>(read_clock(CLOCK_THREAD_CPUTIME_ID)); };
    for (size_t i = 0; i < kTimes; i++) {
      for (size_t spin = 0; spin < i * 500; spin++) traced_sink = static_cast<long>(spin);
      traced_plain(cpu_time());
      traced_second(cpu_time());
    }
  }});
  const Probe before = probe_on(child.pid(), &traced_plain, 1), after = probe_on(child.pid(), &traced_second, 2);
  CaptureNeeds needs;
  needs.vtime = needs.thread = true;
  needs.args = 1;
  const auto seen = trace(child, {{&before, needs}, {&after, needs}});
  ASSERT_EQ(seen.size(), 2 * kTimes);
  for (size_t i = 0; i < seen.size(); i += 2) {
    const auto time = static_cast<int64_t>(seen[i].firing.vtimestamp);
    EXPECT_GE(time, static_cast<int64_t>(seen[i].firing.args[0]) - kAllowed) << i;
    EXPECT_LE(time, static_cast<int64_t>(seen[i + 1].firing.args[0]) + kAllowed) << i;
    EXPECT_GE(seen[i + 1].firing.vtimestamp, seen[i].firing.vtimestamp) << i;
  }
}

// The same from a program that may sleep and makes its record in the ring.
TEST_F(Uprobe, VirtualTimeComesWithMemoryToo) {
  TracedChild child({[] {
    for (int i = 0; i < 10; i++) traced_text("text");
  }});
  const Probe probe = probe_on(child.pid(), &traced_text, 1);
  CaptureNeeds needs;
  needs.vtime = needs.thread = true;
  needs.add({0, true, 0, 1024, {}});
  const auto seen = trace(child, {{&probe, needs}});
  ASSERT_EQ(seen.size(), 10u);
  for (size_t i = 1; i < seen.size(); i++) EXPECT_GE(seen[i].firing.vtimestamp, seen[i - 1].firing.vtimestamp);
  EXPECT_GT(seen.back().firing.vtimestamp, seen.front().firing.vtimestamp);
  EXPECT_LT(seen.back().firing.vtimestamp, 60'000'000'000u);  // the child has hardly run
}

constexpr unsigned kRax = 10, kRdi = 14, kRip = 16, kCs = 17, kRsp = 19;

TEST_F(Uprobe, RegistersAreThoseOfTheThread) {
  TracedChild child({[] { traced_plain(77); }});
  const Probe entry = probe_on(child.pid(), &traced_plain, 1), leave = probe_on(child.pid(), &traced_plain, 2, true);
  CaptureNeeds needs;
  needs.registers = 1u << kRdi | 1u << kRip | 1u << kCs | 1u << kRsp;
  CaptureNeeds result;
  result.registers = 1u << kRax;
  std::vector<std::vector<uint64_t>> values;
  struct Registers final : EventSink {
    explicit Registers(std::vector<std::vector<uint64_t>>& to) : all(to) {}
    bool fire(vm::Firing& f) noexcept override {
      all.emplace_back(f.registers.values.begin(), f.registers.values.end());
      return true;
    }
    std::vector<std::vector<uint64_t>>& all;
  } sink(values);
  auto instrument = make_uprobe_instrument();
  ASSERT_TRUE(instrument->enable(std::vector<EnabledProbe>{{&entry, needs}, {&leave, result}}, refused_));
  ASSERT_TRUE(child.call(0));
  ASSERT_TRUE(instrument->poll(sink));
  ASSERT_EQ(values.size(), 2u);
  ASSERT_EQ(values[0].size(), 4u);  // in the order of struct pt_regs
  EXPECT_EQ(values[0][0], 77u);
  EXPECT_EQ(values[0][1], reinterpret_cast<uint64_t>(address_of(&traced_plain)));  // a fork lies where its parent does
  EXPECT_EQ(values[0][2] & 3, 3u);                                                 // in user mode
  EXPECT_NE(values[0][3], 0u);
  EXPECT_EQ(values[1], std::vector<uint64_t>{154});
}

TEST(ThreadTimes, NeverGoBack) {
  ThreadTimes times;
  EXPECT_EQ(times.advance(1, 100), 100u);
  EXPECT_EQ(times.advance(1, 90), 100u);
  EXPECT_EQ(times.advance(2, 50), 50u);
  EXPECT_EQ(times.advance(1, 101), 101u);
}

// In a container's pid namespace a process has another number than the kernel's own.
TEST_F(Uprobe, PidsAreThoseOfTheTracersNamespace) {
  const pid_t outer = fork();
  if (outer == 0) {
    if (unshare(CLONE_NEWPID) != 0) _exit(77);
    const pid_t inner = fork();
    if (inner == 0) {
      TracedChild child({[] { traced_plain(1); }});
      Probe probe = probe_on(child.pid(), &traced_plain, 1);
      std::get<UprobeSite>(probe.site).path = "/proc/self/exe";  // this /proc has the other numbers
      CaptureNeeds needs;
      needs.thread = true;
      const auto seen = trace(child, {{&probe, needs}});
      const bool right = seen.size() == 1 && seen[0].firing.pid == child.pid() && seen[0].firing.tid == child.pid();
      _exit(right && child.pid() < 10 ? 0 : 1);
    }
    int status = 0;
    waitpid(inner, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(outer, &status, 0), outer);
  if (status == 77 << 8) DVM_SKIP("no pid namespace can be made here");
  EXPECT_EQ(status, 0);
}

TEST_F(Uprobe, AProcessThatIsGoneIsAnError) {
  Probe probe;
  {
    TracedChild child({});
    probe = probe_on(child.pid(), &traced_plain, 1);
    std::get<UprobeSite>(probe.site).path = "/proc/self/exe";
  }
  auto instrument = make_uprobe_instrument();
  const Status status = instrument->enable(std::array{EnabledProbe{&probe, {}}}, refused_);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("does not exist any more"), std::string::npos) << status.error().message;
}

TEST_F(Uprobe, WithoutPrivilegesTheErrorSaysWhatToDo) {
  if (geteuid() != 0) DVM_SKIP("only root can give its privileges up");
  const pid_t pid = fork();
  if (pid == 0) {
    if (setuid(65534) != 0) _exit(2);
    const Probe probe = probe_on(getpid(), &traced_plain, 1);
    auto instrument = make_uprobe_instrument();
    const Status status = instrument->enable(std::array{EnabledProbe{&probe, {}}}, refused_);
    const auto says = [&](const char* words) { return status.error().message.find(words) != std::string::npos; };
    _exit(!status && says("CAP_BPF and CAP_PERFMON") && says("run with sudo") ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

// What SIGKILL leaves behind: nothing.
TEST_F(Uprobe, TheTargetSurvivesTheDeathOfItsTracer) {
  TracedChild child({[] { traced_plain(1); }});
  const std::string before = memory_of(child.pid(), address_of(&traced_plain), 16);
  ASSERT_EQ(before.size(), 16u);
  const Probe probe = probe_on(child.pid(), &traced_plain, 1);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t tracer = fork();
  if (tracer == 0) {
    auto instrument = make_uprobe_instrument();
    const char ok = instrument->enable(std::array{EnabledProbe{&probe, {}}}, refused_) ? 1 : 0;
    if (write(ready[1], &ok, 1) == 1) pause();
    _exit(0);
  }
  char ok = 0;
  ASSERT_EQ(read(ready[0], &ok, 1), 1);
  ASSERT_EQ(ok, 1);
  EXPECT_TRUE(child.call(0));
  EXPECT_NE(memory_of(child.pid(), address_of(&traced_plain), 16), before);
  kill(tracer, SIGKILL);
  ASSERT_EQ(waitpid(tracer, nullptr, 0), tracer);
  EXPECT_EQ(memory_of(child.pid(), address_of(&traced_plain), 16), before);
  EXPECT_TRUE(child.call(0));
  close(ready[0]);
  close(ready[1]);
}

TEST_F(Uprobe, FiringsCanBeCountedWithoutRecords) {
  TracedChild child({[] {
    for (int i = 0; i < 1000; i++) traced_plain(i);
    for (int i = 0; i < 10; i++) traced_second(i);
  }});
  const Probe plain = probe_on(child.pid(), &traced_plain, 7), second = probe_on(child.pid(), &traced_second, 8);
  const Probe left = probe_on(child.pid(), &traced_plain, 9, true);
  auto instrument = make_counting_instrument();
  ASSERT_TRUE(
      instrument->enable(std::array{EnabledProbe{&plain, {}}, EnabledProbe{&second, {}}, EnabledProbe{&left, {}}}, refused_));
  ASSERT_TRUE(child.call(0));
  instrument->disable();
  EXPECT_EQ(instrument->count_of(plain), 1000u);
  EXPECT_EQ(instrument->count_of(second), 10u);
  EXPECT_EQ(instrument->count_of(left), 1000u);
  Collector collector;
  EXPECT_EQ(*instrument->poll(collector), 0u);
}

TEST_F(Uprobe, ProfileFiresOnEveryCpu) {
  TracedChild child({[] {
    const clock_t end = clock() + CLOCKS_PER_SEC / 5;  // of CPU time
    while (clock() < end)
      for (long i = 0; i < 100'000; i++) traced_sink = i;
  }});
  Probe probe;
  probe.id = 9;
  probe.site = TimerSite{1'000'000, true};
  CaptureNeeds needs;
  needs.args = 3;
  needs.cpu = true;
  const auto every_cpu = static_cast<size_t>(sysconf(_SC_NPROCESSORS_ONLN));
  std::set<int32_t> cpus;
  size_t in_child = 0, user = 0;
  // A virtual CPU that its host does not run has no clock; so it gets some rounds to show itself.
  for (int round = 0; round < 20 && cpus.size() < every_cpu; round++) {
    for (const Seen& one : trace(child, {{&probe, needs}})) {
      EXPECT_EQ(one.firing.probe_id, 9u);
      EXPECT_NE(one.firing.args[0] == 0, one.firing.args[1] == 0);
      cpus.insert(one.firing.cpu);
      in_child += one.firing.pid == child.pid();
      user += one.firing.pid == child.pid() && one.firing.args[1] != 0;
    }
  }
  EXPECT_EQ(cpus.size(), every_cpu);
  EXPECT_GT(in_child, 20u);
  EXPECT_GT(user, in_child / 2);
}

}  // namespace
}  // namespace dvm::runtime
