// Semaphores in a process are raised and lowered only where that is right.

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "runtime/agent/semaphores.h"
#include "tests/unit/instrument/threaded_child.h"

namespace dvm::runtime {
namespace {

using inside::Semaphore;
using inside::SemaphoreState;

constexpr size_t kPage = 4096;
constexpr uint32_t kDistance = 0x04030201;
constexpr uint16_t kCount = 5;

bool restricts = false;  // in a child that is forked now

void restrict_calls() {
  sock_filter allow[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog filter{1, allow};
  if (!restricts) return;
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

// A child inherits a table, a page with counters, and a page with a jump.
class ProcessSemaphores : public testing::Test {
 protected:
  void SetUp() override {
    void* memory = mmap(nullptr, 2 * kPage + inside::kSemaphoreBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    counters_ = static_cast<uint16_t*>(memory);
    jump_ = static_cast<unsigned char*>(memory) + kPage;
    table_ = reinterpret_cast<inside::Semaphores*>(jump_ + kPage);
    counters_[0] = counters_[1] = kCount;
    jump_[0] = 0xe9;
    std::memcpy(jump_ + 1, &kDistance, sizeof kDistance);
  }
  void TearDown() override { munmap(counters_, 2 * kPage + inside::kSemaphoreBytes); }

  void add(size_t counter, uint32_t distance, SemaphoreState state) {
    table_->all[table_->count++] = {reinterpret_cast<uint64_t>(&counters_[counter]), reinterpret_cast<uint64_t>(jump_), distance,
                                    state, sizeof distance};
  }
  void start() {
    child_.emplace();
    auto memory = AgentMemory::open(child_->pid());
    ASSERT_TRUE(memory);
    memory_.emplace(*std::move(memory));
  }
  void lower(std::vector<uint64_t> jumps = {}) {
    auto stopped = StoppedProcess::stop(child_->pid());
    ASSERT_TRUE(stopped);
    EXPECT_TRUE(lower_semaphores(*stopped, *memory_, reinterpret_cast<uint64_t>(table_), jumps));
  }
  // Returns why they are refused; empty: it is raised.
  std::vector<std::string> raise(std::initializer_list<uint64_t> counters) {
    std::vector<AgentSite> sites;
    for (const uint64_t counter : counters) {
      AgentSite& site = sites.emplace_back();
      site.window_address = reinterpret_cast<uint64_t>(jump_);
      site.semaphores = {counter};
    }
    SitePatch jump;
    jump.patch.address = reinterpret_cast<uint64_t>(jump_);
    std::memcpy(jump.patch.after, jump_, jump.patch.length);
    std::vector<AgentSite*> asked;
    std::vector<JumpedSite> jumped;
    for (AgentSite& site : sites) asked.push_back(&site), jumped.push_back({&site, &jump});
    auto stopped = StoppedProcess::stop(child_->pid());
    refuse_unraisable(*stopped, asked);
    raise_semaphores(*stopped, *memory_, reinterpret_cast<uint64_t>(table_), jumped);
    std::vector<std::string> refusals;
    for (const AgentSite& site : sites) refusals.push_back(site.refusal);
    return refusals;
  }
  uint64_t at(size_t counter) const { return reinterpret_cast<uint64_t>(&counters_[counter]); }
  template <class T>
  T now(const T& inherited) const {
    T value{};
    EXPECT_TRUE(memory_->read_object(reinterpret_cast<uint64_t>(&inherited), value));
    return value;
  }

  uint16_t* counters_ = nullptr;
  unsigned char* jump_ = nullptr;
  inside::Semaphores* table_ = nullptr;
  std::optional<test::ThreadedChild> child_;
  std::optional<AgentMemory> memory_;
};

TEST_F(ProcessSemaphores, ThatAKilledTracerWasToLowerAreLeftAloneWithoutTheirJumps) {
  add(0, kDistance, SemaphoreState::raised);
  add(1, kDistance + 1, SemaphoreState::wanted);
  start();
  lower();
  EXPECT_EQ(now(counters_[0]), kCount - 1);
  EXPECT_EQ(now(counters_[1]), kCount);
  EXPECT_EQ(now(table_->all[1]).state, SemaphoreState::off);
  EXPECT_TRUE(child_->runs_on());
}

TEST_F(ProcessSemaphores, OfOneThatRestrictsItsSystemCallsAreNotRaised) {
  pthread_atfork(nullptr, nullptr, restrict_calls);
  restricts = true;
  start();
  restricts = false;
  EXPECT_NE(raise({at(0)}).at(0).find("restricted"), std::string::npos);
  EXPECT_EQ(now(counters_[0]), kCount);
}

TEST_F(ProcessSemaphores, AreRaisedBesideOneThatIsUnfit) {
  start();
  EXPECT_EQ(raise({at(0), at(1) + 1}), (std::vector<std::string>{"", "its semaphore lies at an odd address"}));
  EXPECT_EQ(now(counters_[0]), kCount + 1);
  EXPECT_EQ(now(counters_[1]), kCount);
}

TEST_F(ProcessSemaphores, OfOtherJumpsStayRaised) {
  add(0, kDistance, SemaphoreState::raised);
  add(1, kDistance, SemaphoreState::raised);
  const uint64_t first = table_->all[0].jump;
  std::memcpy(jump_ + 8, jump_, 5), table_->all[1].jump = first + 8;
  start();
  lower({first});
  EXPECT_EQ(now(counters_[0]), kCount - 1);
  EXPECT_EQ(now(counters_[1]), kCount);
}

// A distance of one byte is found in other code as well.
TEST_F(ProcessSemaphores, OfShortJumpsAreLoweredIfTheJumpIsThere) {
  add(0, 0x05, SemaphoreState::raised), add(1, 0x05, SemaphoreState::raised);
  for (size_t i = 0; i < 2; i++) table_->all[i].distance_bytes = 1, table_->all[i].jump += 8 * (i + 1);
  jump_[8] = 0xeb, jump_[9] = 0x05, jump_[16] = 0x74, jump_[17] = 0x05;
  start();
  lower();
  EXPECT_EQ(now(counters_[0]), kCount - 1);
  EXPECT_EQ(now(counters_[1]), kCount);
}

TEST_F(ProcessSemaphores, TakeThePlaceOfThoseWhoseJumpsAreGone) {
  add(0, kDistance, SemaphoreState::raised), add(0, kDistance, SemaphoreState::off);
  for (size_t i = 0; i < 2; i++) table_->all[i].jump += 8;
  start();
  EXPECT_EQ(raise({at(1)}), std::vector<std::string>{""});
  EXPECT_EQ(now(table_->count), 1u);
  EXPECT_EQ(now(counters_[0]), kCount);
  EXPECT_EQ(now(counters_[1]), kCount + 1);
}

TEST_F(ProcessSemaphores, AtTheirLargestValueAreRefused) {
  counters_[1] = UINT16_MAX;
  start();
  const auto refusals = raise({at(0), at(1)});
  EXPECT_NE(refusals.at(1).find("largest value"), std::string::npos) << refusals.at(1);
  EXPECT_EQ(now(counters_[1]), UINT16_MAX);
}

TEST(SemaphoreRefusal, SaysWhatIsWrongWithItsMemory) {
  std::vector<MemoryMapping> mappings(1);
  mappings[0].range = {0x1000, 0x2000}, mappings[0].is_writable = true;
  EXPECT_EQ(semaphore_refusal(mappings, 0x1000), "");
  EXPECT_NE(semaphore_refusal(mappings, 0x2000), "");
  EXPECT_NE(semaphore_refusal(mappings, 0x1001), "");
  mappings[0].is_shared = true;
  EXPECT_NE(semaphore_refusal(mappings, 0x1000), "");
  mappings[0].is_shared = mappings[0].is_writable = false;
  EXPECT_NE(semaphore_refusal(mappings, 0x1000), "");
}

// As after dlclose() and dlopen(): the same short jump to a relay is placed again.
TEST_F(ProcessSemaphores, OfAJumpThatIsPlacedAgainAreLoweredOnce) {
  add(0, kDistance, SemaphoreState::raised);
  start();
  EXPECT_EQ(raise({at(0)}), std::vector<std::string>{""});
  EXPECT_EQ(now(counters_[0]), kCount + 1);
  lower();
  EXPECT_EQ(now(counters_[0]), kCount);
}

}  // namespace
}  // namespace dvm::runtime
