// What is proposed to a process as steady memory, and when. The process is a forked child; the test puts proposals in use.

#include "runtime/agent/steady_memory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "tests/unit/instrument/traced_child.h"

namespace dvm::runtime {
namespace {

using inside::SteadyMemory;

constexpr uint64_t kMs = 1'000'000, kPage = 4096, kLater = 1000 * kMs;
constexpr uint64_t kSpot = 0x2000'0000'0000;  // where a child maps memory, each piece away from the last

SteadyMemory steady;
char in_data[64] = "memory of a file";

void* map_at(uint64_t address, int protection) {
  return mmap(reinterpret_cast<void*>(address), 4 * kPage, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

class SteadyProposalsTest : public testing::Test {
 protected:
  enum Job : uint8_t { kMap, kMapCode, kMapMoreCode, kGuard, kUserfaults };

  SteadyProposalsTest()
      : child_({[] { map_at(kSpot + (steady.misses << 20), PROT_READ | PROT_WRITE); },
                [] { map_at(kSpot - (1 << 20), PROT_READ | PROT_EXEC); },
                [] { map_at(kSpot - (2 << 20), PROT_READ | PROT_EXEC); },
                [] { madvise(reinterpret_cast<void*>(kSpot + kPage), kPage, 102); },  // MADV_GUARD_INSTALL
                [] { syscall(SYS_userfaultfd, 1); }}),                                // UFFD_USER_MODE_ONLY
        memory_(*AgentMemory::open(child_.pid())),
        proposals_(child_.pid(), reinterpret_cast<uint64_t>(&steady), {own_}, [this](const auto& mappings) {
          proofs_++, code_ = 0;
          for (const MemoryMapping& one : mappings) code_ += one.is_executable;
          return std::string(is_proven_ ? "" : "it makes code");
        }) {}
  ~SteadyProposalsTest() override { std::free(on_heap_), std::free(large_), munmap(shared_, kPage); }

  // At a time that is late enough for any proposal, so often that new code is examined, too.
  void refresh() {
    for (int i = 0; i < 3; i++) proposals_.refresh(memory_, now_ += kLater * 10);
  }
  SteadyMemory seen() {
    SteadyMemory read;
    EXPECT_TRUE(memory_.read_object(reinterpret_cast<uint64_t>(&steady), read));
    return read;
  }
  template <class Change>
  void change(const Change& apply) {
    SteadyMemory changed = seen();
    apply(changed);
    EXPECT_TRUE(memory_.write_object(reinterpret_cast<uint64_t>(&steady), changed));
  }
  void miss(uint64_t address) {
    change([&](SteadyMemory& all) { all.wanted[all.misses++ % inside::kMostWanted] = address; });
  }
  // Puts a proposal in use, unless it is outdated. False: there is none.
  bool adopt() {
    bool was_proposed = false;
    change([&](SteadyMemory& all) {
      was_proposed = all.proposed != 0;
      if (was_proposed && (all.proposed & ~inside::kTableBits) == (all.state & ~inside::kTableBits))
        all.state = all.proposed + inside::kSteadyStep;
      all.proposed = 0;
    });
    return was_proposed;
  }
  // The number of a range of the table in use that has the address.
  std::optional<size_t> place_of(uint64_t address) {
    const SteadyMemory all = seen();
    const uint64_t number = all.state & inside::kTableBits;
    if (number == 0 || all.is_off != 0) return std::nullopt;
    const inside::SteadyTable& table = all.tables[number - 1];
    for (size_t i = 0; i < table.count; i++)
      if (table.ranges[i].begin <= address && address < table.ranges[i].end) return i;
    return std::nullopt;
  }
  bool is_steady(const void* at) { return place_of(reinterpret_cast<uint64_t>(at)).has_value(); }
  bool first_table() {
    refresh();
    return adopt();
  }

  void* on_heap_ = std::malloc(100);
  void* large_ = std::malloc(1 << 20);
  void* shared_ = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  AddressRange own_{kSpot + 16 * kPage, kSpot + 17 * kPage};
  bool is_proven_ = true;
  int proofs_ = 0, code_ = 0;
  uint64_t now_ = kLater;
  test::TracedChild child_;
  AgentMemory memory_;
  SteadyProposals proposals_;
};

TEST_F(SteadyProposalsTest, TakeTheHeapAndNothingElseThatIsWritable) {
  for (const void* wanted : {on_heap_, large_}) miss(reinterpret_cast<uint64_t>(wanted));  // of many ranges with sanitizers
  ASSERT_TRUE(first_table());
  EXPECT_TRUE(is_steady(on_heap_));
  EXPECT_TRUE(is_steady(large_));
  EXPECT_FALSE(is_steady(in_data));
  EXPECT_FALSE(is_steady(shared_));
  EXPECT_FALSE(is_steady(__builtin_frame_address(0)));
  EXPECT_FALSE(is_steady("constant"));
  EXPECT_EQ(proofs_, 1);
  EXPECT_GT(code_, 1);
  EXPECT_EQ(proposals_.problem(), "");
}

TEST_F(SteadyProposalsTest, AreNotRepeatedUnlessMemoryIsWanted) {
  ASSERT_TRUE(first_table());
  child_.call(kMap);
  refresh();
  EXPECT_FALSE(adopt());
  miss(kSpot);
  refresh();
  ASSERT_TRUE(adopt());
  EXPECT_EQ(place_of(kSpot), 0);
  EXPECT_FALSE(place_of(kSpot + 4 * kPage));
  EXPECT_TRUE(is_steady(on_heap_));
}

TEST_F(SteadyProposalsTest, LeaveOutMemoryOfDvm) {
  child_.call(kMap);
  proposals_.leave_out({kSpot, kSpot + kPage});
  miss(kSpot + kPage);
  ASSERT_TRUE(first_table());
  EXPECT_FALSE(place_of(kSpot));
  EXPECT_TRUE(place_of(kSpot + kPage));
}

TEST_F(SteadyProposalsTest, LeaveOutMemoryThatIsTaken) {
  child_.call(kMap);
  miss(kSpot);
  miss(kSpot + 2 * kPage);
  change([](SteadyMemory& all) {
    all.state = 8 * inside::kSteadyStep;
    all.takers[inside::kMostTakers - 1] = {77, 0, {{kSpot + kPage + 8, kSpot + kPage + 9}, {}}};
  });
  ASSERT_TRUE(first_table());
  EXPECT_TRUE(place_of(kSpot));
  EXPECT_FALSE(place_of(kSpot + kPage));
  EXPECT_TRUE(place_of(kSpot + 2 * kPage));
}

TEST_F(SteadyProposalsTest, WaitWhileACallBegins) {
  change([](SteadyMemory& all) { all.takers[3].thread = inside::kTakerClaimed; });
  EXPECT_FALSE(first_table());
  change([](SteadyMemory& all) { all.takers[3].thread = 0; });
  EXPECT_TRUE(first_table());
}

TEST_F(SteadyProposalsTest, AreMadeInTheTableThatIsNotInUseForTheStateSeen) {
  ASSERT_TRUE(first_table());
  for (uint64_t i = 0; i < 3; i++) {
    const uint64_t state = seen().state;
    child_.call(kMap);
    miss(kSpot + (i << 20));
    refresh();
    const SteadyMemory all = seen();
    EXPECT_EQ(all.state, state);
    EXPECT_EQ(all.proposed, state ^ inside::kTableBits);  // 1 for 2, 2 for 1
    ASSERT_TRUE(adopt());
  }
}

TEST_F(SteadyProposalsTest, LeaveATableAloneThatWasInUse) {
  ASSERT_TRUE(first_table());
  change([](SteadyMemory& all) { all.state = (all.state & ~inside::kTableBits) + inside::kSteadyStep; });
  miss(reinterpret_cast<uint64_t>(on_heap_));
  refresh();
  EXPECT_EQ(seen().proposed & inside::kTableBits, 2);
  ASSERT_TRUE(adopt());
  EXPECT_TRUE(is_steady(on_heap_));
}

TEST_F(SteadyProposalsTest, AreNotReplacedBeforeTheyAreUsed) {
  refresh();
  const SteadyMemory before = seen();
  ASSERT_NE(before.proposed, 0);
  child_.call(kMap);
  miss(kSpot);
  refresh();
  EXPECT_EQ(seen().proposed, before.proposed);
  EXPECT_EQ(seen().tables[0].count, before.tables[0].count);
  ASSERT_TRUE(adopt());
  EXPECT_FALSE(place_of(kSpot));
}

TEST_F(SteadyProposalsTest, ThatWereOutdatedAreRepeated) {
  refresh();
  change([](SteadyMemory& all) { all.state += inside::kSteadyStep; });
  ASSERT_TRUE(adopt());
  EXPECT_FALSE(is_steady(on_heap_));
  miss(reinterpret_cast<uint64_t>(on_heap_));
  ASSERT_TRUE(first_table());
  EXPECT_TRUE(is_steady(on_heap_));
}

// Memory of a file is wanted all the time. That may not delay a proposal for other memory.
TEST_F(SteadyProposalsTest, BecomeRareWhenTheyDoNotHelp) {
  ASSERT_TRUE(first_table());
  const uint64_t begin = now_;
  int proposed = 0;
  while (now_ < begin + 30 * kLater) {
    miss(reinterpret_cast<uint64_t>(in_data));
    child_.call(kMap);  // which is new, but not wanted
    proposals_.refresh(memory_, now_ += 25 * kMs);
    proposed += adopt();
  }
  EXPECT_GE(proposed, seen().tables[0].count < inside::kMostSteady ? 3 : 0);  // a full table has no room for more
  EXPECT_LE(proposed, 15);
  const uint64_t last = kSpot + (seen().misses << 20);
  child_.call(kMap);
  miss(last);
  bool was_proposed = false;
  for (int i = 0; i < 40 && !was_proposed; i++) {  // one second, if refreshes take long
    proposals_.refresh(memory_, now_ += 25 * kMs);
    was_proposed = adopt();
  }
  EXPECT_EQ(place_of(last), 0);
}

TEST_F(SteadyProposalsTest, NeedAnotherProofForOtherCode) {
  ASSERT_TRUE(first_table());
  const int before = code_;
  child_.call(kMapCode);
  miss(1);
  refresh();
  EXPECT_EQ(proofs_, 2);
  EXPECT_EQ(code_, before + 1);
  EXPECT_EQ(seen().is_off, 0);
  EXPECT_TRUE(is_steady(on_heap_));
  child_.call(kMapMoreCode);
  miss(1);
  is_proven_ = false;
  refresh();
  EXPECT_EQ(proofs_, 3);
  EXPECT_EQ(seen().is_off, 1);
  EXPECT_FALSE(is_steady(on_heap_));
}

TEST_F(SteadyProposalsTest, EndWithoutAProof) {
  is_proven_ = false;
  EXPECT_FALSE(first_table());
  EXPECT_EQ(seen().is_off, 1);
  EXPECT_EQ(proposals_.problem(), "it makes code");
}

TEST_F(SteadyProposalsTest, SayWhichCallHasEndedThem) {
  ASSERT_TRUE(first_table());
  change([](SteadyMemory& all) { all.is_off = 1, all.ended_by = 1 + SYS_io_uring_setup; });
  refresh();
  EXPECT_EQ(proposals_.problem(), "it has called io_uring_setup");
  proposals_.end(memory_, "another reason");
  EXPECT_EQ(proposals_.problem(), "it has called io_uring_setup");
}

TEST_F(SteadyProposalsTest, LeaveOutGuardRegions) {
  child_.call(kMap);
  child_.call(kGuard);
  miss(kSpot);
  miss(kSpot + 2 * kPage);
  ASSERT_TRUE(first_table());
  const std::string byte = test::memory_of(child_.pid(), reinterpret_cast<const void*>(kSpot + kPage), 1);
  EXPECT_TRUE(place_of(kSpot));
  EXPECT_TRUE(place_of(kSpot + 2 * kPage));
  EXPECT_EQ(place_of(kSpot + kPage).has_value(), !byte.empty());  // a kernel without guard regions reads it
}

TEST_F(SteadyProposalsTest, EndWithTheProcess) {
  ASSERT_TRUE(first_table());
  miss(1);
  kill(child_.pid(), SIGKILL);
  siginfo_t ended;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child_.pid()), &ended, WEXITED | WNOWAIT), 0);
  refresh();
  SteadyMemory read;
  EXPECT_FALSE(memory_.read_object(reinterpret_cast<uint64_t>(&steady), read));
  EXPECT_EQ(proofs_, 1);
}

TEST_F(SteadyProposalsTest, EndWithUserfaultfd) {
  child_.call(kUserfaults);
  EXPECT_FALSE(first_table());
  EXPECT_EQ(seen().is_off, 1);
  EXPECT_NE(proposals_.problem().find("userfaultfd"), std::string::npos);
}

}  // namespace
}  // namespace dvm::runtime
