// What calls of watched functions would do to the agent, by their arguments (runtime/agent/inside/watch.h).

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <initializer_list>

#include "runtime/agent/inside/taking.h"

namespace dvm::runtime::inside {
namespace {

constexpr uint64_t kOwn = 0x100000, kCode = 0x200000, kLasting = 0x300000, kStack = 0x400000, kData = 0x500000;
constexpr uint64_t kBytes = 3 * kPage;  // of each of these
constexpr long kPrctlCall = 157, kCloneCall = 56;

// The registers of the arguments, in their order.
struct Arguments {
  Arguments(std::initializer_list<uint64_t> values) {
    constexpr unsigned kWords[] = {14, 13, 12, 11, 9, 8};
    unsigned i = 0;
    for (const uint64_t value : values) words[kWords[i++]] = value;
  }
  uint64_t words[kSavedWords]{};
};

bool restricts(Watch watch, const Arguments& with) { return restricts_calls(watch, with.words); }

TEST(WatchedCalls, RestrictSystemCalls) {
  for (const uint64_t option : {22, 59}) {
    EXPECT_TRUE(restricts(Watch::prctl, {option}));
    EXPECT_TRUE(restricts(Watch::syscall, {kPrctlCall, option}));
    EXPECT_FALSE(restricts(Watch::syscall, {option, option}));
    EXPECT_FALSE(restricts(Watch::clone, {option, option}));
  }
  EXPECT_TRUE(restricts(Watch::syscall, {317}));
  EXPECT_FALSE(restricts(Watch::prctl, {317}));
  EXPECT_FALSE(restricts(Watch::prctl, {15, 22}));
  EXPECT_FALSE(restricts(Watch::syscall, {kPrctlCall, 15, 22}));
}

TEST(WatchedCalls, ForbidTheClock) {
  const auto forbids = [](Watch watch, const Arguments& with) { return forbids_clock(watch, with.words); };
  EXPECT_TRUE(forbids(Watch::prctl, {26, 2}));
  EXPECT_TRUE(forbids(Watch::syscall, {kPrctlCall, 26, 2}));
  EXPECT_FALSE(forbids(Watch::prctl, {26, 1}));
  EXPECT_FALSE(forbids(Watch::prctl, {25, 2}));
  EXPECT_FALSE(forbids(Watch::syscall, {kPrctlCall, 26, 1}));
  EXPECT_FALSE(forbids(Watch::syscall, {kPrctlCall, 25, 2}));
  EXPECT_FALSE(forbids(Watch::syscall, {26, 26, 2}));
  EXPECT_FALSE(forbids(Watch::mmap, {26, 2}));
}

TEST(WatchedCalls, ServePageFaults) {
  const auto serves = [](Watch watch, const Arguments& with) { return serves_page_faults(watch, with.words); };
  EXPECT_TRUE(serves(Watch::syscall, {323, 0x80800}));
  EXPECT_FALSE(serves(Watch::syscall, {323, 1}));
  EXPECT_FALSE(serves(Watch::syscall, {322, 0}));
  EXPECT_FALSE(serves(Watch::prctl, {323, 0}));
}

TEST(WatchedCalls, LockMemory) {
  const auto locks = [](Watch watch, const Arguments& with) { return locks_memory(watch, with.words); };
  EXPECT_TRUE(locks(Watch::mlockall, {3}));
  EXPECT_FALSE(locks(Watch::mlockall, {2}));  // only memory to come
  EXPECT_TRUE(locks(Watch::syscall, {151, 1}));
  EXPECT_FALSE(locks(Watch::syscall, {151, 2}));
  EXPECT_FALSE(locks(Watch::syscall, {149, 1}));
  EXPECT_FALSE(locks(Watch::munmap, {1, 1}));
}

TEST(WatchedCalls, StartTasksThatShareALane) {
  constexpr uint64_t kVm = 0x100, kVfork = 0x4000, kThread = 0x10000, kSetTls = 0x80000;
  constexpr std::pair<uint64_t, bool> kFlags[] = {{0, false},
                                                  {kVm, true},
                                                  {kVfork, false},
                                                  {kVm | kVfork, false},
                                                  {kVm | kThread, true},
                                                  {kVm | kSetTls, true},
                                                  {kVm | kThread | kSetTls, false}};
  for (const auto& [flags, shares] : kFlags) {
    EXPECT_EQ(shares_lane(Watch::clone, Arguments{1, 2, flags}.words), shares) << flags;
    EXPECT_EQ(shares_lane(Watch::syscall, Arguments{kCloneCall, flags}.words), shares) << flags;
    EXPECT_FALSE(shares_lane(Watch::prctl, Arguments({kCloneCall, flags, flags}).words));
    EXPECT_FALSE(shares_lane(Watch::syscall, Arguments({kCloneCall + 1, flags, flags}).words));
  }
  EXPECT_TRUE(shares_lane(Watch::syscall, Arguments{435}.words));
  EXPECT_FALSE(shares_lane(Watch::clone, Arguments{435}.words));
}

TEST(WatchedCalls, SetTheThreadPointer) {
  const auto sets = [](Watch watch, const Arguments& with) { return sets_block(watch, with.words); };
  EXPECT_TRUE(sets(Watch::arch_prctl, {0x1002}));
  EXPECT_TRUE(sets(Watch::syscall, {158, 0x1002}));
  EXPECT_FALSE(sets(Watch::arch_prctl, {0x1003}));
  EXPECT_FALSE(sets(Watch::syscall, {158, 0x1003}));
  EXPECT_FALSE(sets(Watch::syscall, {157, 0x1002}));
  EXPECT_FALSE(sets(Watch::prctl, {0x1002, 0x1002}));
}

TEST(WatchedCalls, AreSystemCallsOfMemory) {
  const auto call_of = [](Watch watch) {
    const MemoryCall made = memory_call(watch, Arguments{1, 2, 3, 4, 5, 6}.words);
    EXPECT_EQ((std::array{made.a, made.b, made.c, made.d, made.e}), (std::array<uint64_t, 5>{1, 2, 3, 4, 5}));
    return made.number;
  };
  EXPECT_EQ(call_of(Watch::mmap), kMmap);
  EXPECT_EQ(call_of(Watch::mprotect), kMprotect);
  EXPECT_EQ(call_of(Watch::munmap), kMunmap);
  EXPECT_EQ(call_of(Watch::mremap), kMremap);
  EXPECT_EQ(call_of(Watch::madvise), kMadvise);
  EXPECT_EQ(call_of(Watch::shmat), kShmat);
  EXPECT_EQ(call_of(Watch::process_madvise), kProcessMadvise);
  EXPECT_EQ(memory_call(Watch::mlockall, Arguments{1}.words).number, ~uint64_t{0});
  for (const auto& [number, as] : {std::pair{9, kMmap}, {10, kMprotect}, {216, kMunmap}, {329, kMunmap}}) {
    const MemoryCall made = memory_call(Watch::syscall, Arguments{static_cast<uint64_t>(number), 1, 2, 3, 4, 5}.words);
    EXPECT_EQ((std::array{made.number, made.a, made.b, made.c, made.d, made.e}), (std::array<uint64_t, 6>{as, 1, 2, 3, 4, 5}));
  }
}

// A process with memory of dvm's, code under jumps, memory that lasts, and data of instructions under jumps.
class Watched : public testing::Test {
 protected:
  Watched() {
    own_.own.count = own_.own.code_count = own_.watched.count = lasting_.head.ranges = 1;
    own_.own.ranges[0] = {kOwn, kOwn + kBytes}, own_.own.code[0] = {kCode, kCode + kBytes};
    own_.watched.ranges[0] = {kData, kData + kBytes};
    lasting_.head.stack = {kStack, kStack + kBytes}, lasting_.range = {kLasting, kLasting + kBytes};
    page_.pid = static_cast<uint64_t>(getpid());
    context_.own = address_of(&own_), context_.lasting = address_of(&lasting_), context_.armed = address_of(&page_);
  }
  static uint64_t address_of(const void* at) { return reinterpret_cast<uint64_t>(at); }
  bool takes(const MemoryCall& call) { return takes_memory(context_, call); }
  bool takes_what_lasts(const MemoryCall& call) { return takes_lasting(context_, call); }
  bool touches(const MemoryCall& call) { return touches_data(context_, call); }

  struct {
    OwnMemory own;
    WatchedMemory watched;
  } own_;
  struct {
    LastingMemory head;
    MemoryRange range;
  } lasting_;
  ArmedPage page_;
  Context context_;
};

// The kernel takes whole pages.
TEST_F(Watched, MemoryOfDvmIsTaken) {
  for (const uint64_t number : {kMunmap, kMprotect, kMadvise}) {
    EXPECT_FALSE(takes({number, kOwn - kPage, kPage}));
    EXPECT_TRUE(takes({number, kOwn - kPage, kPage + 1}));
    EXPECT_TRUE(takes({number, kOwn + kBytes - kPage, 1}));
    EXPECT_FALSE(takes({number, kOwn + kBytes, kPage}));
    EXPECT_TRUE(takes({number, kPage, kOwn}));
  }
  EXPECT_TRUE(takes({kMmap, kOwn, kPage, 0, 0x32}));
  EXPECT_FALSE(takes({kMmap, kOwn, kPage, 0, 0x22}));
  EXPECT_FALSE(takes({kMmap, kOwn + kBytes, kPage, 0, 0x32}));
  EXPECT_TRUE(takes({kMremap, kOwn, kPage, kPage, 1}));
  EXPECT_TRUE(takes({kMremap, kPage, kPage, kPage + 1, 3, kOwn - kPage}));
  EXPECT_FALSE(takes({kMremap, kPage, 4 * kPage, kPage, 3, kOwn - kPage}));
  EXPECT_FALSE(takes({kMremap, kPage, kPage, kPage, 1, kOwn}));
  EXPECT_TRUE(takes({kShmat, 1, 0, 0x4000}));
  EXPECT_FALSE(takes({kShmat, 1, kOwn, 0x1000}));
  EXPECT_FALSE(takes({1, kOwn, kPage, kPage, 0x12, kOwn}));
  own_.own.count = 2, own_.own.ranges[1] = {kOwn + 2 * kBytes, kOwn + 3 * kBytes};
  EXPECT_TRUE(takes({kMunmap, kOwn + 2 * kBytes, kPage}));
  EXPECT_TRUE(takes({kMunmap, kOwn, kPage}));
}

TEST_F(Watched, CodeUnderJumpsBecomesWritable) {
  EXPECT_TRUE(takes({kMprotect, kCode, kPage, 7}));
  EXPECT_TRUE(takes({kMprotect, kCode + kBytes - 1, 1, 2}));
  EXPECT_FALSE(takes({kMprotect, kCode, kPage, 5}));
  EXPECT_FALSE(takes({kMprotect, kCode - kPage, kPage, 7}));
  EXPECT_FALSE(takes({kMprotect, kCode + kBytes, kPage, 7}));
  EXPECT_FALSE(takes({kMunmap, kCode, kPage, 7}));
}

TEST_F(Watched, MemoryThatLastsIsTaken) {
  for (const uint64_t begin : {kLasting, kStack}) {
    for (const MemoryCall& call : {MemoryCall{kMunmap, begin + kPage, kPage}, MemoryCall{kMprotect, begin, kPage, 0},
                                   MemoryCall{kMprotect, begin, kPage, 2}, MemoryCall{kMmap, begin, kPage, 2, 0x32},
                                   MemoryCall{kMmap, begin, kPage, 1, 0x12}, MemoryCall{kMremap, begin, kPage},
                                   MemoryCall{kMremap, kPage, kPage, kPage, 3, begin}, MemoryCall{kMadvise, begin, kPage, 100},
                                   MemoryCall{kMadvise, begin, kPage, 102}, MemoryCall{kMunmap, begin - kPage, kPage + 1},
                                   MemoryCall{kMunmap, begin + kBytes - 1, 1}})
      EXPECT_TRUE(takes_what_lasts(call)) << call.number << " " << call.c << " " << call.d;
    for (const MemoryCall& call :
         {MemoryCall{kMunmap, begin - kPage, kPage}, MemoryCall{kMunmap, begin + kBytes, kPage},
          MemoryCall{kMprotect, begin, kPage, 1}, MemoryCall{kMmap, begin, kPage, 3, 0x32},
          MemoryCall{kMmap, begin, kPage, 0, 0x22}, MemoryCall{kMremap, kPage, kPage, kPage, 1, begin},
          MemoryCall{kMremap, kPage, kPage, kPage, 3, begin - kPage}, MemoryCall{kMadvise, begin, kPage, 99},
          MemoryCall{kMadvise, begin, kPage, 103}, MemoryCall{1, begin, kPage}})
      EXPECT_FALSE(takes_what_lasts(call)) << call.number << " " << call.c << " " << call.d;
  }
}

// One page behind the call as well, since an instruction may reach over the end of a page.
TEST_F(Watched, DataOfInstructionsUnderJumpsIsTaken) {
  for (const MemoryCall& call :
       {MemoryCall{kMunmap, kData + kPage, kPage}, MemoryCall{kMprotect, kData, kPage, 1}, MemoryCall{kMprotect, kData, kPage, 2},
        MemoryCall{kMmap, kData, kPage, 3, 0x32}, MemoryCall{kMremap, kData, kPage},
        MemoryCall{kMremap, kPage, kPage, kPage, 3, kData}, MemoryCall{kMremap, kPage, kPage, 3 * kPage, 3, kData - 3 * kPage},
        MemoryCall{kMadvise, kData, kPage, 100}, MemoryCall{kMunmap, kData - kPage, 1},
        MemoryCall{kMunmap, kData + kBytes - 1, 1}})
    EXPECT_TRUE(touches(call)) << call.number << " " << call.c << " " << call.d;
  for (const MemoryCall& call :
       {MemoryCall{kMunmap, kData - 2 * kPage, kPage}, MemoryCall{kMunmap, kData + kBytes, kPage},
        MemoryCall{kMprotect, kData, kPage, 3}, MemoryCall{kMprotect, kData, kPage, 7}, MemoryCall{kMmap, kData, kPage, 0, 0x22},
        MemoryCall{kMremap, kPage, kPage, kPage, 1, kData}, MemoryCall{kMremap, kPage, 3 * kPage, kPage, 3, kData - 2 * kPage},
        MemoryCall{kMunmap, kPage, kPage, kPage, 3, kData}, MemoryCall{kMadvise, kData, kPage, 99}, MemoryCall{1, kData, kPage}})
    EXPECT_FALSE(touches(call)) << call.number << " " << call.c << " " << call.d;
}

TEST_F(Watched, RangesOfAnAdviceAreLookedAt) {
  const auto pid = static_cast<int32_t>(getpid());
  Range ranges[] = {{kPage, kPage}, {kOwn, kPage}};
  const auto takes_any = [&](uint64_t count, uint64_t advice) {
    return takes_ranges(context_, {kProcessMadvise, 3, address_of(ranges), count, advice}, pid);
  };
  EXPECT_TRUE(takes_any(2, 4));
  EXPECT_FALSE(takes_any(1, 4));
  for (const uint64_t harmless : {3, 20, 21, 25}) EXPECT_FALSE(takes_any(2, harmless));
  EXPECT_FALSE(takes_ranges(context_, {kMadvise, 3, address_of(ranges), 2, 4}, pid));
  ranges[1] = {kLasting, kPage};
  EXPECT_TRUE(takes_any(2, 102));
  EXPECT_FALSE(takes_any(2, 4));
  ranges[1] = {kData, kPage};
  EXPECT_TRUE(takes_any(2, 100));
  EXPECT_FALSE(takes_ranges(context_, {kProcessMadvise, 3, 8, 2, 4}, pid));  // the kernel cannot read them either
  page_.muted = 1;
  EXPECT_TRUE(takes_any(1, 4));
  EXPECT_FALSE(takes_any(2, 20));
}

TEST_F(Watched, HandlersOfSignals) {
  const auto pid = static_cast<int32_t>(getpid());
  uint64_t action = 0x1234;
  const auto handled = [&](Watch watch, const Arguments& with) { return handled_signal(context_, watch, with.words, pid); };
  EXPECT_EQ(handled(Watch::sigaction, {11, address_of(&action)}), uint64_t{1} << 10);
  EXPECT_EQ(handled(Watch::syscall, {13, 11, address_of(&action)}), uint64_t{1} << 10);
  EXPECT_EQ(handled(Watch::syscall, {14, 11, address_of(&action)}), 0);
  EXPECT_EQ(handled(Watch::prctl, {13, 11, address_of(&action)}), 0);
  EXPECT_EQ(handled(Watch::sigaction, {1, address_of(&action)}), 1);
  EXPECT_EQ(handled(Watch::sigaction, {63, address_of(&action)}), uint64_t{1} << 62);
  for (const uint64_t none : {0, 64, 65}) EXPECT_EQ(handled(Watch::sigaction, {none, address_of(&action)}), 0);
  EXPECT_EQ(handled(Watch::sigaction, {11, 0}), 0);
  EXPECT_EQ(handled(Watch::sigaction, {11, 8}), 0);
  for (const uint64_t none : {0, 1}) {
    action = none;
    EXPECT_EQ(handled(Watch::sigaction, {11, address_of(&action)}), 0);
  }
  page_.muted = 1;
  EXPECT_EQ(handled(Watch::sigaction, {11, address_of(&action)}), uint64_t{1} << 10);
  EXPECT_EQ(handled(Watch::sigaction, {11, 0}), 0);
}

TEST_F(Watched, ThreadsWithoutAControlBlock) {
  constexpr uint64_t kSetTls = 0x80000, kOther = 0x2d0;
  const auto pid = static_cast<int32_t>(getpid());
  uint64_t block[3] = {};
  const uint64_t at = block[0] = block[2] = address_of(block);
  const auto is_other = [&](uint64_t flags, uint64_t pointer) {
    const bool of_wrapper = has_other_block(context_, Watch::clone, Arguments{0, 0, flags, 0, 0, pointer}.words, pid);
    const Arguments raw{kCloneCall, flags, 0, 0, 0, pointer};
    EXPECT_EQ(has_other_block(context_, Watch::syscall, raw.words, pid), of_wrapper);
    EXPECT_FALSE(has_other_block(context_, Watch::prctl, raw.words, pid));
    return of_wrapper;
  };
  EXPECT_FALSE(is_other(kSetTls, at));
  EXPECT_TRUE(is_other(kSetTls, 8));
  EXPECT_FALSE(is_other(0, 8));
  block[2]++;
  EXPECT_FALSE(is_other(kSetTls, at));
  context_.thread_offset = kOther;
  EXPECT_TRUE(is_other(kSetTls, at));
  block[2]--;
  EXPECT_FALSE(is_other(kSetTls, at));
  block[0]++;
  EXPECT_TRUE(is_other(kSetTls, at));
  page_.muted = 1;
  EXPECT_FALSE(is_other(kSetTls, at));
}

}  // namespace
}  // namespace dvm::runtime::inside
