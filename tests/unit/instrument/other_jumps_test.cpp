// Places where kernel uprobes must not lie, by what agents have left in processes.

#include "runtime/agent/other_jumps.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtime/agent/detach.h"
#include "runtime/agent/placing_lock.h"
#include "tests/unit/instrument/threaded_child.h"

namespace dvm::runtime {
namespace {

constexpr size_t kPage = 4096;
constexpr uint64_t kOffset = 64, kFileOffset = kPage;

// A child with one jump, in a copy of a file that it has mapped, and the table of an agent.
class OtherJumpsTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/other-jumps-XXXXXX";
    const int file = mkstemp(name);
    path_ = name;
    ASSERT_EQ(ftruncate(file, 2 * kPage), 0);
    void* code = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, kFileOffset);
    close(file);
    code_ = static_cast<unsigned char*>(code), header_ = add_agent(kOffset);
  }
  void TearDown() override {
    munmap(code_, kPage);
    for (inside::CodeHeader* one : headers_) munmap(reinterpret_cast<unsigned char*>(one) - kPage, 3 * kPage);
    unlink(path_.c_str());
  }
  // Of this process, with a jump there. The table is a mapping by itself.
  inside::CodeHeader* add_agent(uint64_t at) {
    void* around = mmap(nullptr, 3 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    auto* header = reinterpret_cast<inside::CodeHeader*>(static_cast<unsigned char*>(around) + kPage);
    mprotect(header, kPage, PROT_READ | PROT_WRITE);
    *header = {.armed = 0,
               .tracer = getpid(),
               .patches = 1,
               .tracer_began = start_time(getpid()),
               .table = reinterpret_cast<uint64_t>(header + 1)};
    const inside::Patch jump{reinterpret_cast<uint64_t>(code_ + at), {}, 5, {0xe9, 1, 2, 3, 4}, inside::PatchKind::site};
    std::memcpy(static_cast<void*>(header + 1), &jump, sizeof jump);
    std::memcpy(code_ + at, jump.after, jump.length);
    headers_.push_back(header);
    return header;
  }
  // The parent has no such code.
  void start() {
    mprotect(code_, kPage, PROT_READ | PROT_EXEC);
    for (inside::CodeHeader* one : headers_) mprotect(one, kPage, PROT_READ | PROT_EXEC);
    child_.emplace();
    for (inside::CodeHeader* one : headers_) mprotect(one, kPage, PROT_READ);
    mprotect(code_, kPage, PROT_READ);
  }
  bool is_refused(const OtherJumps& jumps, uint64_t at) const { return !jumps.refusal(path_, kFileOffset + at).empty(); }

  std::string path_;
  unsigned char* code_ = nullptr;
  inside::CodeHeader* header_ = nullptr;  // the first of them
  std::vector<inside::CodeHeader*> headers_;
  std::optional<test::ThreadedChild> child_;
};

TEST_F(OtherJumpsTest, OfAnyProcessRefuseTheirBytesAlone) {
  start();
  const OtherJumps all = OtherJumps::of_all();
  EXPECT_TRUE(is_refused(all, kOffset));
  EXPECT_TRUE(is_refused(all, kOffset + 4));
  EXPECT_FALSE(is_refused(all, kOffset - 1));
  EXPECT_FALSE(is_refused(all, kOffset + 5));
  EXPECT_TRUE(all.refusal("/proc/self/exe", kFileOffset + kOffset).empty());
}

TEST_F(OtherJumpsTest, OfATracedProcessRefuseWhatTheyHaveDisplaced) {
  header_->tracer = getppid(), header_->tracer_began = start_time(getppid());
  start();
  const OtherJumps its(child_->pid());
  EXPECT_TRUE(is_refused(its, kOffset + 19));
  EXPECT_FALSE(is_refused(its, kOffset + 20));
}

// Whatever has left code to both: execution would go on in the middle of the jump.
TEST_F(OtherJumpsTest, OfThisTracerRefuseTheirBytesAlone) {
  start();
  const OtherJumps its(child_->pid());
  EXPECT_TRUE(is_refused(its, kOffset));
  EXPECT_TRUE(is_refused(its, kOffset + 4));
  EXPECT_FALSE(is_refused(its, kOffset + 5));
}

TEST_F(OtherJumpsTest, RefuseWhatTheyHaveDisplacedAlsoBehindAnOwnJump) {
  header_->tracer = getppid(), header_->tracer_began = start_time(getppid());
  add_agent(kOffset + 8);
  start();
  const OtherJumps its(child_->pid());
  EXPECT_TRUE(is_refused(its, kOffset + 12));
  EXPECT_TRUE(is_refused(its, kOffset + 13));
  EXPECT_TRUE(is_refused(its, kOffset + 19));
  EXPECT_FALSE(is_refused(its, kOffset + 20));
}

TEST_F(OtherJumpsTest, OfDeadTracersAreTakenOff) {
  header_->tracer_began = 1;
  start();
  EXPECT_FALSE(is_refused(OtherJumps::of_all(), kOffset));
  const auto memory = AgentMemory::open(child_->pid());
  unsigned char first = 1;
  ASSERT_TRUE(memory && memory->read_object(reinterpret_cast<uint64_t>(code_ + kOffset), first));
  EXPECT_EQ(first, 0);
}

class PlacingLockTest : public ::testing::Test {
 protected:
  // Tests that run beside this one have locks, too.
  static std::unique_ptr<PlacingLock> held(const std::set<pid_t>& pids) {
    std::unique_ptr<PlacingLock> lock;
    for (int tries = 10; tries > 0 && !(lock && lock->is_held()); tries--) lock = std::make_unique<PlacingLock>(pids);
    EXPECT_TRUE(lock->is_held());
    return lock;
  }
  // True if whoever wants the lock of the others waits until that of the first ones is released.
  static bool waits(const std::set<pid_t>& first, const std::set<pid_t>& others) {
    std::unique_ptr<PlacingLock> lock = held(first);
    std::atomic<bool> is_released = false, came_early = false;
    std::thread other([&] {
      const PlacingLock next(others);
      came_early = !is_released;
    });
    usleep(50'000);
    is_released = true;
    lock.reset();
    other.join();
    return !came_early;
  }
  // No process has such numbers.
  static constexpr pid_t kOne = 1 << 28, kOther = kOne + 1;
};

TEST_F(PlacingLockTest, OfAProcessHasOneHolder) {
  EXPECT_TRUE(waits({kOne}, {kOne}));
  EXPECT_TRUE(waits({kOne, kOther}, {kOther}));
  EXPECT_TRUE(waits({kOther}, {kOne, kOther}));
}

TEST_F(PlacingLockTest, OfAllExcludesThoseOfProcesses) {
  EXPECT_TRUE(waits({}, {}));
  EXPECT_TRUE(waits({}, {kOne}));
  EXPECT_TRUE(waits({kOne}, {}));
}

TEST_F(PlacingLockTest, OfAProcessDoesNotWaitForThoseOfOthers) {
  const auto lock = held({kOne});
  EXPECT_TRUE(held({kOther})->is_held());
}

}  // namespace
}  // namespace dvm::runtime
