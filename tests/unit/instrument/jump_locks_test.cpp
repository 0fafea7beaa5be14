// Locks on the code of this program, as an agent in it would have them.

#include "runtime/agent/jump_locks.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "runtime/symbol/maps.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kBetween = 64;

void code() {}

AgentSite site_at(uint64_t address, uint64_t relay = 0) {
  AgentSite site;
  site.window_address = address;
  site.relay = relay;
  return site;
}

class JumpLocksTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto objects = mapped_objects(getpid());
    ASSERT_TRUE(objects) << objects.error().message;
    const MappedObject* object = object_at(*objects, address_);
    ASSERT_NE(object, nullptr);
    path_ = object->open_path;
    offset_ = address_ - object->address + object->offset;
  }
  LockedBy holder(uint64_t at) { return LockedFiles().holder(path_, offset_ + at); }
  bool has_jump(uint64_t at) { return holder(at) == LockedBy::agent; }

  const uint64_t address_ = reinterpret_cast<uint64_t>(&code);
  std::string path_;
  uint64_t offset_ = 0;
};

TEST_F(JumpLocksTest, CoverTheBytesOfAJump) {
  JumpLocks locks;
  EXPECT_FALSE(has_jump(0));
  locks.add(getpid(), std::vector{site_at(address_)});
  EXPECT_TRUE(has_jump(0));
  EXPECT_TRUE(has_jump(4));
  EXPECT_FALSE(has_jump(5));
}

// A lock of a whole process, as other programs take them, is none of an agent.
TEST_F(JumpLocksTest, AreToldFromThoseOfAProcess) {
  const pid_t child = fork();
  if (child == 0) {
    struct flock lock {};
    lock.l_type = F_RDLCK, lock.l_start = static_cast<off_t>(offset_), lock.l_len = 5;
    _exit(fcntl(open(path_.c_str(), O_RDONLY), F_SETLK, &lock) == 0 && holder(0) == LockedBy::another ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(JumpLocksTest, CoverARelayToo) {
  JumpLocks locks;
  locks.add(getpid(), std::vector{site_at(address_, address_ + kBetween)});
  EXPECT_TRUE(has_jump(1));
  EXPECT_FALSE(has_jump(2));
  EXPECT_TRUE(has_jump(kBetween + 4));
  locks.remove(std::vector{address_});
  EXPECT_FALSE(has_jump(kBetween + 4));
}

TEST_F(JumpLocksTest, EndForSitesThatAreRefused) {
  std::vector<AgentSite> sites{site_at(address_), site_at(address_ + kBetween), site_at(address_)};
  JumpLocks locks;
  const auto added = locks.add(getpid(), sites);
  sites[1].refusal = sites[2].refusal = "a reason";
  locks.remove_refused(sites, added);
  EXPECT_TRUE(has_jump(0));  // another site is placed there
  EXPECT_FALSE(has_jump(kBetween));
}

// Its code is not as in its file then, because the first jump lies there.
TEST_F(JumpLocksTest, StayWhereTheNextSitesArePlannedAgain) {
  std::vector<AgentSite> sites{site_at(address_, address_ + 2 * kBetween)};
  JumpLocks locks;
  locks.remove_refused(sites, locks.add(getpid(), sites));
  sites.push_back(site_at(address_ + kBetween));
  const auto added = locks.add(getpid(), sites);
  sites[0].refusal = sites[1].refusal = "a reason";
  locks.remove_refused(sites, added);
  EXPECT_TRUE(has_jump(0));
  EXPECT_TRUE(has_jump(2 * kBetween));
  EXPECT_FALSE(has_jump(kBetween));
}

TEST_F(JumpLocksTest, AreAskedOfRegularFilesOnly) {
  const std::string pipe = testing::TempDir() + "jump_locks_test." + std::to_string(getpid());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  alarm(20);  // whoever opens a pipe waits for its other end
  EXPECT_EQ(LockedFiles().holder(pipe, 0), LockedBy::nobody);
  alarm(0);
  unlink(pipe.c_str());
}

TEST_F(JumpLocksTest, DifferFromThoseOfOtherPrograms) {
  for (const int command : {F_SETLK, F_OFD_SETLK}) {
    const FileDescriptor file(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    struct flock all {};
    all.l_type = F_RDLCK;
    ASSERT_EQ(fcntl(file.get(), command, &all), 0);
    EXPECT_EQ(holder(0), LockedBy::another) << command;
  }
  EXPECT_EQ(holder(0), LockedBy::nobody);
}

TEST_F(JumpLocksTest, CoverWhatLiesBetweenMany) {
  std::vector<AgentSite> sites;
  for (uint64_t i = 0; i < 4 * JumpLocks::kMostOfFile; i++) sites.push_back(site_at(address_ + i * kBetween));
  JumpLocks locks;
  const auto added = locks.add(getpid(), sites);
  EXPECT_TRUE(has_jump(0));
  EXPECT_TRUE(has_jump(kBetween - 1));
  for (size_t i = 2; i < sites.size(); i++) sites[i].refusal = "a reason";
  locks.remove_refused(sites, added);
  EXPECT_TRUE(has_jump(kBetween));
  EXPECT_FALSE(has_jump(kBetween - 1));
  EXPECT_FALSE(has_jump(2 * kBetween));
}

TEST_F(JumpLocksTest, EndWithTheirOwner) {
  {
    JumpLocks locks;
    locks.add(getpid(), std::vector{site_at(address_)});
    EXPECT_TRUE(has_jump(0));
  }
  EXPECT_FALSE(has_jump(0));
}

}  // namespace
}  // namespace dvm::runtime
