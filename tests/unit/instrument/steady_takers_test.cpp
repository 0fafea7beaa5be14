// What system calls take of steady memory at the edges (runtime/agent/inside/taking.h), in this process.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/agent/inside/taking.h"

namespace dvm::runtime::inside {
namespace {

constexpr uint64_t kSteadyBegin = 16 * kPage, kSteadyEnd = 20 * kPage;

// Both tables have the range, and no memory is there.
class SteadyTakers : public testing::Test {
 protected:
  SteadyTakers() {
    page_ = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    context_.armed = reinterpret_cast<uint64_t>(page_);
    armed_page(context_) = {.armed = kAlone, .pid = static_cast<uint64_t>(getpid())};
    syscall(SYS_membarrier, 1 << 8, 0, 0);  // registers restarts
    reset();
  }
  ~SteadyTakers() override { munmap(page_, kPage); }

  SteadyMemory& steady() { return steady_memory(context_); }
  void reset() {
    steady() = {};
    for (SteadyTable& table : steady().tables) table.count = 1, table.ranges[0] = {kSteadyBegin, kSteadyEnd};
    steady().state = kSteadyStep | 1;
  }
  Site site_of(const MemoryCall& call, Taking taking) {
    Site site{};
    site.context = context_, site.taking = taking;
    site.number = static_cast<uint32_t>(call.number);
    return site;
  }
  // By the registers of the arguments.
  void note(const MemoryCall& call, Taking taking, uint64_t stack_pointer = 1) {
    uint64_t saved[kSavedWords] = {};
    saved[14] = call.a, saved[13] = call.b, saved[12] = call.c, saved[7] = call.d, saved[9] = call.e;
    saved[kStackWord] = stack_pointer, saved[kResultWord] = result_;
    note_taking(site_of(call, taking), saved);
  }
  void take(const MemoryCall& call) { note(call, Taking::begins); }
  // The end of the range in both tables.
  uint64_t end_after(const MemoryCall& call) {
    reset();
    take(call);
    EXPECT_EQ(steady().tables[0].ranges[0].end, steady().tables[1].ranges[0].end);
    EXPECT_EQ(steady().restarting, 0);
    return steady().is_off != 0 ? 0 : steady().tables[0].ranges[0].end;
  }
  uint64_t claimed() {
    uint64_t count = 0;
    for (const MemoryTaker& one : steady().takers) count += one.thread != 0 ? 1 : 0;
    return count;
  }

  void* page_;
  Context context_{};
  uint64_t result_ = 0;
};

TEST_F(SteadyTakers, TakeTheirPagesAndNoOthers) {
  constexpr uint64_t kRemapFilePages = 216, kMiddle = kSteadyBegin + kPage;
  EXPECT_EQ(end_after({kMunmap, kSteadyBegin - kPage, kPage}), kSteadyEnd);
  EXPECT_EQ(end_after({kMunmap, kSteadyBegin - kPage, kPage + 1}), kSteadyBegin);
  EXPECT_EQ(end_after({kMunmap, kSteadyEnd, kPage}), kSteadyEnd);
  EXPECT_EQ(end_after({kMunmap, kSteadyEnd - 1, 1}), kSteadyEnd - kPage);
  EXPECT_EQ(end_after({kMunmap, kMiddle, ~uint64_t{0} - kMiddle}), kMiddle);
  EXPECT_EQ(end_after({kRemapFilePages, kMiddle, kPage}), kMiddle);
  EXPECT_EQ(end_after({kMadvise, kMiddle, kPage, 99}), kSteadyEnd);
  EXPECT_EQ(end_after({kMadvise, kMiddle, kPage, 100}), kMiddle);
  EXPECT_EQ(end_after({kMremap, kPage, kPage, 2 * kPage, 2, kSteadyBegin - kPage}), kSteadyBegin);
  EXPECT_EQ(end_after({kMremap, kPage, 2 * kPage, kPage, 2, kSteadyBegin - kPage}), kSteadyEnd);
  EXPECT_EQ(end_after({kMremap, kPage, kPage, kPage, 1, kMiddle}), kSteadyEnd);
}

TEST_F(SteadyTakers, TakeAllThatTheyMayReach) {
  constexpr uint64_t kGrowsDown = 0x1000000, kGrowsUp = 0x2000000;
  EXPECT_EQ(end_after({kMprotect, kSteadyEnd, kPage, kGrowsDown | 1}), kSteadyBegin);
  EXPECT_EQ(end_after({kMprotect, kPage, kPage, kGrowsUp | 1}), kSteadyBegin);
  EXPECT_EQ(end_after({kMprotect, kPage, kPage, 3}), kSteadyEnd);
  EXPECT_EQ(end_after({kProcessMadvise}), kSteadyBegin);
  for (const uint64_t number : {56, 435}) {
    EXPECT_EQ(end_after({number}), 0);
    EXPECT_EQ(steady().ended_by, number + 1);
  }
}

TEST_F(SteadyTakers, AreNoneInAForkedChildOrIfTheyTakeNothing) {
  armed_page(context_).pid = 0;
  EXPECT_EQ(end_after({kMunmap, kSteadyBegin, kPage}), kSteadyEnd);
  EXPECT_EQ(claimed(), 0);
  armed_page(context_).pid = 1;
  note({kMunmap, kSteadyBegin, kPage}, Taking::nothing);
  take({kMmap, kSteadyBegin, kPage, 3, 0x22});
  EXPECT_EQ(claimed(), 0);
}

TEST_F(SteadyTakers, KeepWhatTheyTakeUntilTheCallEnds) {
  const MemoryCall call{kMremap, kSteadyBegin, kPage, kPage, 2, 5 * kPage};
  note(call, Taking::begins, 7);
  const MemoryTaker& taker = steady().takers[0];
  EXPECT_EQ(taker.ranges[0].begin, kSteadyBegin);
  EXPECT_EQ(taker.ranges[1].begin, 5 * kPage);
  EXPECT_EQ(taker.ranges[1].end, 6 * kPage);
  EXPECT_EQ(taker.stack_pointer, 7);
  note(call, Taking::ends, 8);
  EXPECT_EQ(claimed(), 1);
  note(call, Taking::ends, 7);
  EXPECT_EQ(claimed(), 0);
}

// Readers could still load from what goes.
TEST_F(SteadyTakers, EndSteadyMemoryIfReadersCannotBeStartedAgain) {
  armed_page(context_).muted = 1;
  for (const uint64_t begin : {kPage, kSteadyEnd}) take({kMunmap, begin, kPage});
  EXPECT_EQ(steady().is_off, 0);
  take({kMunmap, kSteadyEnd - kPage, kPage});
  EXPECT_EQ(steady().is_off, 1);
  EXPECT_EQ(steady().state & kTableBits, 0);
  reset();
  steady().restarting = 1;  // another thread has cut out the same
  take({kMunmap, kPage, kPage});
  EXPECT_EQ(steady().is_off, 1);
  EXPECT_EQ(steady().restarting, 1);
}

// Its end tells nothing of it, if the number of the call is not known.
TEST_F(SteadyTakers, AreCountedIfTheyHaveNoRoom) {
  const MemoryCall call{kMunmap, kPage, kPage};
  const auto fill = [&] {
    reset();
    for (uint64_t i = 0; i < kMostTakers; i++) note(call, Taking::begins, 100 + i);
    EXPECT_EQ(claimed(), kMostTakers);
  };
  fill();
  note(call, Taking::begins, 1);
  EXPECT_EQ(steady().unnamed, 1);
  EXPECT_EQ(steady().state & kTableBits, 0);
  EXPECT_EQ(steady().is_off, 0);
  note({1, kPage, kPage}, Taking::ends, 1);
  EXPECT_EQ(steady().unnamed, 1);
  for (int i = 0; i < 2; i++) note(call, Taking::ends, 1);
  EXPECT_EQ(steady().unnamed, 0);
  fill();
  begin_taking(site_of({0}, Taking::begins_function), call.number, memory_taken(call), 1);
  EXPECT_EQ(steady().unnamed, 0);
  EXPECT_EQ(steady().is_off, 1);
}

TEST_F(SteadyTakers, StartTasks) {
  constexpr uint64_t kVm = 0x100, kSetTls = 0x80000;
  const auto starting_after = [&](uint64_t number, uint64_t flags, Taking taking) {
    note({number, flags}, taking);
    return steady().starting;
  };
  EXPECT_EQ(starting_after(56, kVm | kSetTls, Taking::starts), 0);
  EXPECT_EQ(starting_after(56, 0, Taking::starts), 0);
  EXPECT_EQ(starting_after(56, kVm, Taking::starts), 1);
  EXPECT_EQ(starting_after(435, 0, Taking::starts), 2);
  EXPECT_EQ(starting_after(435, 0, Taking::started), 2);  // in the new task
  result_ = 5;
  EXPECT_EQ(starting_after(56, 0, Taking::started), 2);
  for (const uint64_t left : {1, 0, 0}) EXPECT_EQ(starting_after(56, kVm, Taking::started), left);
}

}  // namespace
}  // namespace dvm::runtime::inside
