// Loads of steady memory, and what system calls cut out of it (runtime/agent/inside/steady.h), in this process.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <thread>

#include "runtime/agent/inside/taking.h"

extern "C" const char agent_steady_begin, agent_steady_end, agent_steady_abort;

namespace dvm::runtime::inside {
namespace {

constexpr int kMembarrier = 324, kRegisterRestarts = 1 << 8;

uint64_t address_of(const void* at) { return reinterpret_cast<uint64_t>(at); }

// A process with an armed page, and a table with one range.
class Steady : public testing::Test {
 protected:
  Steady() {
    page_ = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    text_ = static_cast<char*>(mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    descriptor_ = {0, address_of(&agent_steady_begin), static_cast<uint64_t>(&agent_steady_end - &agent_steady_begin),
                   address_of(&agent_steady_abort)};
    context_.armed = address_of(page_);
    context_.restart = address_of(descriptor_.data());
    context_.rseq = static_cast<uint64_t>(__rseq_offset);
    context_.rseq_bytes = 32;
    armed_page(context_) = {.armed = kAlone, .pid = static_cast<uint64_t>(getpid())};
    syscall(kMembarrier, kRegisterRestarts, 0, 0);
    area_ = restart_area(context_, lane_);
    put_in_use(address_of(text_), address_of(text_) + 2 * kPage);
  }
  ~Steady() override {
    munmap(page_, kPage);
    munmap(text_, 4 * kPage);
  }

  SteadyMemory& steady() { return steady_memory(context_); }
  SteadyTable& table() { return steady().tables[0]; }
  void put_in_use(uint64_t begin, uint64_t end) {
    table().ranges[table().count++] = {begin, end};
    steady().state = kSteadyStep | 1;
  }
  uint64_t load_words(uint64_t from) { return agent_steady(&context_, &lane_, from, words_.data()); }
  std::string read(uint64_t from, uint64_t most) {
    std::array<uint64_t, 64> to{};
    return read_steady_text(context_, lane_, from, to.data(), most) == 0 ? "unread" : reinterpret_cast<const char*>(to.data());
  }
  uint64_t end() { return table().ranges[0].end; }
  void take(const MemoryCall& call, uint64_t stack_pointer = 1) {
    begin_taking(site_of(call), call.number, memory_taken(call), stack_pointer);
  }
  void give(const MemoryCall& call, uint64_t stack_pointer) { end_taking(site_of(call), memory_taken(call), stack_pointer); }
  Site site_of(const MemoryCall& call) {
    Site site{};
    site.context = context_;
    site.number = static_cast<uint32_t>(call.number);
    return site;
  }
  uint64_t takers() {
    uint64_t count = 0;
    for (const MemoryTaker& one : steady().takers) count += one.thread != 0 ? 1 : 0;
    return count;
  }

  void* page_;
  char* text_;
  alignas(32) std::array<uint64_t, 4> descriptor_{};
  Context context_{};
  Lane lane_{};
  uint64_t area_ = 0;
  std::array<uint64_t, 16> words_{};
};

TEST_F(Steady, LoadsWordsUpToTheEndOfARange) {
  ASSERT_NE(area_, 0);
  const uint64_t begin = address_of(text_);
  for (uint64_t i = 0; i < 2 * kPage / 8; i++) std::memcpy(text_ + 8 * i, &i, 8);
  EXPECT_EQ(load_words(begin), kSteadyPart);
  EXPECT_EQ(words_[3], 3);
  EXPECT_EQ(load_words(begin + 2 * kPage - 16), 2);
  EXPECT_EQ(words_[1], 2 * kPage / 8 - 1);
  EXPECT_EQ(load_words(begin + 2 * kPage), 0);
  EXPECT_EQ(load_words(begin - 8), 0);
  EXPECT_EQ(load_words(0), 0);
}

TEST_F(Steady, FindsALaterRange) {
  put_in_use(address_of(text_) + 3 * kPage, address_of(text_) + 4 * kPage);
  EXPECT_EQ(load_words(address_of(text_) + 3 * kPage), kSteadyPart);
  EXPECT_EQ(load_words(address_of(text_) + 2 * kPage), 0);
}

TEST_F(Steady, LoadsNothingUnlessAllHolds) {
  const uint64_t begin = address_of(text_);
  steady().state = kSteadyStep;
  EXPECT_EQ(load_words(begin), 0);
  steady().state = kSteadyStep | 1;
  EXPECT_EQ(load_words(begin), kSteadyPart);
  armed_page(context_).armed = kDisarmed;
  EXPECT_EQ(load_words(begin), 0);
  armed_page(context_).armed = kShared;
  EXPECT_EQ(load_words(begin), 0);
  armed_page(context_).armed = kAlone;
  steady().starting = 1;
  EXPECT_EQ(load_words(begin), 0);
}

TEST_F(Steady, ReadsStringsFromAnyAddress) {
  const std::string text = "The quick brown fox jumps over the lazy dog, and then over all other dogs of the neighbourhood.";
  for (uint64_t shift = 0; shift < 9; shift++)
    for (const uint64_t length : {0, 1, 7, 8, 9, 31, 40, 48, 90}) {
      std::memset(text_, 'x', kPage);
      std::memcpy(text_ + shift, text.c_str(), length);
      text_[shift + length] = 0;
      EXPECT_EQ(read(address_of(text_) + shift, 256), text.substr(0, length)) << shift << " " << length;
      EXPECT_EQ(read(address_of(text_) + shift, 5), text.substr(0, std::min<uint64_t>(length, 5)));
    }
}

TEST_F(Steady, LoadsStringsOfRecords) {
  const std::string text = "The quick brown fox jumps over the lazy dog";
  struct {
    LastingMemory head{{}, 1};
    MemoryRange range;
  } lasting;
  context_.lasting = address_of(&lasting);
  for (const bool lasts : {true, false})
    for (uint64_t shift = 0; shift < 9; shift++)
      for (const uint64_t length : {0, 1, 6, 7, 8, 9, 31, 32, 43}) {
        lasting.head.ranges = lasts ? 1 : 0;
        lasting.range = {address_of(text_), address_of(text_) + kPage};
        std::memset(text_, 'x', kPage);
        std::memcpy(text_ + shift, text.c_str(), length);
        text_[shift + length] = 0;
        std::array<char, 64> to{};
        const uint64_t loaded = load_text(context_, lane_, 0, address_of(text_) + shift, address_of(to.data()), 40);
        EXPECT_EQ(loaded, length < 40 ? length + 1 : 0) << shift << " " << length;
        if (loaded == 0) continue;
        EXPECT_EQ(std::string(to.data(), 48), text.substr(0, length) + std::string(48 - length, 0));
      }
}

TEST_F(Steady, ReadsNoStringBeyondARange) {
  std::memset(text_, 'y', 3 * kPage);
  EXPECT_EQ(read(address_of(text_) + 2 * kPage - 20, 256), "unread");
  EXPECT_EQ(read(address_of(text_) + 2 * kPage - 20, 8), "yyyyyyyy");
  EXPECT_EQ(steady().misses, 1);
  EXPECT_EQ(steady().wanted[0], address_of(text_) + 2 * kPage);
}

// From a steady range, from memory that lasts, and by a system call at the end of these.
TEST_F(Steady, CopiesAnyBytes) {
  struct {
    LastingMemory head{};
    MemoryRange range{};
  } lasting;
  context_.lasting = address_of(&lasting);
  for (uint64_t i = 0; i < 4 * kPage; i++) text_[i] = static_cast<char>(i * 7 + i / 256);
  for (const bool lasts : {false, true}) {
    lasting.head.ranges = lasts ? 1 : 0;
    lasting.range = {address_of(text_), address_of(text_) + 2 * kPage};
    for (const uint64_t at : {uint64_t{0}, uint64_t{3}, kPage - 5, 2 * kPage - 40, 2 * kPage - 8})
      for (uint64_t shift = 0; shift < 8; shift++)
        for (const uint64_t bytes : {0, 1, 4, 8, 9, 15, 16, 33, 64, 200}) {
          std::array<char, 256> to{};
          const char* from = text_ + at + shift;
          EXPECT_EQ(read_bytes(context_, lane_, 0, getpid(), address_of(from), address_of(to.data()), bytes), bytes);
          EXPECT_EQ(std::memcmp(to.data(), from, bytes), 0) << at << " " << shift << " " << bytes;
          EXPECT_EQ(to[bytes], 0);
        }
  }
  std::array<char, 8> to{};
  EXPECT_EQ(read_bytes(context_, lane_, 0, getpid(), 8, address_of(to.data()), 8), 0);
}

TEST_F(Steady, IsInterruptedBySignalsAndBarriers) {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 50}, {0, 50}}, never{};
  std::atomic<bool> is_over{false};
  std::thread barriers([&] {
    while (!is_over) restart_readers(context_);
  });
  setitimer(ITIMER_REAL, &often, nullptr);
  uint64_t interrupted = 0, wrong = 0;
  for (int i = 0; i < 30'000'000 && interrupted < 20; i++) {
    const uint64_t loaded = load_words(address_of(text_));
    interrupted += loaded == kInterrupted ? 1 : 0;
    wrong += loaded != kInterrupted && loaded != kSteadyPart ? 1 : 0;
  }
  setitimer(ITIMER_REAL, &never, nullptr);
  is_over = true;
  barriers.join();
  EXPECT_GE(interrupted, 20);
  EXPECT_EQ(wrong, 0);
}

TEST_F(Steady, CutsWhatACallTakes) {
  const uint64_t begin = address_of(text_);
  take({kMunmap, begin + kPage, kPage});
  EXPECT_EQ(end(), begin + kPage);
  EXPECT_EQ(steady().state, (2 * kSteadyStep) | 1);
  EXPECT_EQ(takers(), 1);
  give({kMunmap, begin + kPage, kPage}, 2);
  EXPECT_EQ(takers(), 1);
  give({kMunmap, begin + kPage, kPage}, 1);
  EXPECT_EQ(takers(), 0);
  take({kMunmap, begin, 1});
  EXPECT_EQ(end(), begin);
  EXPECT_EQ(steady().is_off, 0);
}

TEST_F(Steady, TakesOnlyWhatTheCallTakes) {
  const uint64_t begin = address_of(text_), all = begin + 2 * kPage;
  for (const MemoryCall& call :
       {MemoryCall{kMmap, begin, kPage, 3, 0x22}, MemoryCall{kMprotect, begin, kPage, 1}, MemoryCall{kMadvise, begin, kPage, 4},
        MemoryCall{kShmat, 1, begin, 0}, MemoryCall{kMunmap, all, kPage}, MemoryCall{kBrk, 0}, MemoryCall{kBrk, all},
        MemoryCall{1, begin, kPage}}) {
    take(call);
    EXPECT_EQ(end(), all) << call.number;
  }
  EXPECT_EQ(steady().is_off, 0);
  for (const MemoryCall& call : {MemoryCall{kMmap, begin + kPage, kPage, 3, 0x32}, MemoryCall{kMprotect, begin + kPage, 1, 0},
                                 MemoryCall{kMadvise, begin + kPage, kPage, 102}, MemoryCall{kShmat, 1, begin + kPage, 0x4000},
                                 MemoryCall{kMremap, begin + kPage, kPage, kPage, 1}, MemoryCall{kBrk, begin + kPage},
                                 MemoryCall{kMremap, all, kPage, kPage, 2, begin + kPage}}) {
    table().ranges[0].end = all;
    take(call);
    EXPECT_EQ(end(), begin + kPage) << call.number << " " << call.d;
  }
}

TEST_F(Steady, CodeThatAppearsIsUnknown) {
  take({kMmap, 0, kPage, 5, 2});
  EXPECT_EQ(end(), address_of(text_));
  EXPECT_EQ(steady().is_off, 0);
  for (const MemoryCall& call : {MemoryCall{kMprotect, 0, kPage, 5}, MemoryCall{kPkeyMprotect, 0, kPage, 3},
                                 MemoryCall{kShmat, 1, 0, 0x8000}, MemoryCall{kPersonality, 0x400000}, MemoryCall{kRingSetup},
                                 MemoryCall{kRingEnter}, MemoryCall{kUserfaultfd}, MemoryCall{kVfork}}) {
    steady().is_off = 0;
    steady().state = kSteadyStep | 1;
    take(call);
    EXPECT_EQ(steady().is_off, 1) << call.number;
    EXPECT_EQ(steady().state & kTableBits, 0);
  }
  steady().is_off = 0;
  take({kPersonality, 0xffffffff});
  EXPECT_EQ(steady().is_off, 0);
  EXPECT_EQ(steady().state & kTableBits, 0);
}

TEST_F(Steady, AdoptsWhatIsProposedForTheState) {
  steady().tables[1].count = 1;
  steady().proposed = kSteadyStep | 2;
  adopt_proposal(context_);
  EXPECT_EQ(steady().state, (2 * kSteadyStep) | 2);
  EXPECT_EQ(steady().proposed, 0);
  steady().proposed = kSteadyStep | 1;  // a call has begun since
  adopt_proposal(context_);
  EXPECT_EQ(steady().state, (2 * kSteadyStep) | 2);
  EXPECT_EQ(steady().proposed, 0);
}

TEST_F(Steady, UsesNoTableWithoutRoomForTakers) {
  for (uint64_t i = 0; i < kMostTakers; i++) take({kMunmap, 0x1000, kPage}, 100 + i);
  EXPECT_EQ(steady().is_off, 0);
  take({kMunmap, 0x1000, kPage}, 100);  // the same call again, from a handler that never returned
  EXPECT_EQ(takers(), kMostTakers);
  EXPECT_EQ(steady().is_off, 0);
  take({kMunmap, 0x1000, kPage}, 99);
  EXPECT_EQ(steady().is_off, 0);
  EXPECT_EQ(steady().state & kTableBits, 0);
  EXPECT_EQ(steady().unnamed, 1);
  give({kMmap, 0, kPage, 3, 0x22}, 98);  // has claimed nothing
  EXPECT_EQ(steady().unnamed, 1);
  give({kMunmap, 0x1000, kPage}, 99);
  EXPECT_EQ(steady().unnamed, 0);
}

// The number as the kernel sees it, and the arguments as they are before %r10 is set.
TEST_F(Steady, KnowsTheCallOfASite) {
  uint64_t saved[kSavedWords] = {};
  saved[14] = 0x1'4000'000bULL, saved[13] = 0x1000, saved[12] = kPage, saved[11] = 7, saved[7] = 8;
  Site site{};
  site.watch = Watch::syscall, site.taking = Taking::begins_function;
  EXPECT_EQ(call_at(site, saved).number, kMunmap);
  EXPECT_EQ(call_at(site, saved).a, 0x1000);
  EXPECT_EQ(call_at(site, saved).c, 7);
  site.watch = Watch::nothing, site.taking = Taking::begins, site.number = kMmap;
  EXPECT_EQ(call_at(site, saved).b, 0x1000);
  EXPECT_EQ(call_at(site, saved).d, 8);
  site.taking = Taking::begins_function, site.watch = Watch::mmap;
  EXPECT_EQ(call_at(site, saved).d, 7);
}

TEST_F(Steady, TasksThatShareAThreadPointerReadNothing) {
  uint64_t saved[kSavedWords] = {};
  Site before{}, behind{};
  before.context = behind.context = context_;
  before.taking = Taking::starts, behind.taking = Taking::started;
  before.number = behind.number = 58;
  note_taking(before, saved);
  EXPECT_EQ(restart_area(context_, lane_), 0);
  note_taking(behind, saved);  // in the child
  EXPECT_EQ(restart_area(context_, lane_), 0);
  saved[kResultWord] = 100;
  note_taking(behind, saved);
  EXPECT_EQ(restart_area(context_, lane_), area_);
  before.number = 56, saved[14] = 0x3d0f00;  // as pthread_create() does
  note_taking(before, saved);
  EXPECT_EQ(steady().starting, 0);
}

TEST_F(Steady, AThreadWithoutAnAreaOfItsOwnReadsNothing) {
  std::thread([&] {
    Lane other{};
    other.owner = 1;
    EXPECT_NE(restart_area(context_, other), 0);
    other.owner = 2;  // as it is told once for each thread
    context_.rseq_bytes = 64;
    EXPECT_EQ(restart_area(context_, other), 0);
    context_.rseq_bytes = 32;
    context_.rseq += 64;
    EXPECT_EQ(restart_area(context_, other), 0);
  }).join();
}

}  // namespace
}  // namespace dvm::runtime::inside
