// Locks on the code of this program, as an agent in it would have them.

#include "runtime/agent/jump_locks.h"

#include <gtest/gtest.h>
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
  bool has_jump(uint64_t at) { return LockedFiles().has_jump(path_, offset_ + at); }

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
  locks.add(getpid(), sites);
  sites[1].refusal = sites[2].refusal = "a reason";
  locks.remove_refused(sites);
  EXPECT_TRUE(has_jump(0));  // another site is placed there
  EXPECT_FALSE(has_jump(kBetween));
}

TEST_F(JumpLocksTest, CoverWhatLiesBetweenMany) {
  std::vector<AgentSite> sites;
  for (uint64_t i = 0; i < 4 * JumpLocks::kMostOfFile; i++) sites.push_back(site_at(address_ + i * kBetween));
  JumpLocks locks;
  locks.add(getpid(), sites);
  EXPECT_TRUE(has_jump(0));
  EXPECT_TRUE(has_jump(kBetween - 1));
  for (size_t i = 2; i < sites.size(); i++) sites[i].refusal = "a reason";
  locks.remove_refused(sites);
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
