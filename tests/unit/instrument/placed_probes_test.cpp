// Tells probes of an agent that are still in place from lost ones.

#include "runtime/instrument/agent/placed_probes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

namespace dvm::runtime {
namespace {

class PlacedProbesTest : public testing::Test {
 protected:
  PlacedProbesTest() {
    one_.id = 1, other_.id = 2;
    one_.site = other_.site = UprobeSite();
    placed_.add({.probe = &one_, .needs = {}}, 10, files_);
    placed_.add({.probe = &one_, .needs = {}}, 20, files_);
    placed_.add({.probe = &other_, .needs = {}}, 30, files_);
  }
  std::vector<uint32_t> lost(std::vector<uint64_t> jumps) {
    std::vector<uint32_t> ids;
    for (const PlacedProbe& each : placed_.take_lost(jumps)) ids.push_back(each.enabled.probe->id);
    return ids;
  }

  FileKeys files_;
  Probe one_, other_;
  PlacedProbes placed_;
};

TEST_F(PlacedProbesTest, NoneIsLostWhereAllJumpsLie) { EXPECT_TRUE(lost({5, 10, 20, 30}).empty()); }

TEST_F(PlacedProbesTest, OneOfWhichAJumpIsGoneIsLostOnce) {
  EXPECT_EQ(lost({20, 30}), std::vector<uint32_t>{1});
  EXPECT_TRUE(lost({20, 30}).empty());
  EXPECT_EQ(lost({}), std::vector<uint32_t>{2});
}

TEST_F(PlacedProbesTest, HaveASampleForEachModule) {
  using Samples = std::map<std::string, uint64_t>;
  Probe third;
  third.id = 3, third.module = "libc.so.6", third.site = UprobeSite();
  placed_.add({.probe = &third, .needs = {}}, 40, files_);
  EXPECT_EQ(placed_.samples(), (Samples{{"", 10}, {"libc.so.6", 40}}));
  lost({30, 40});
  EXPECT_EQ(placed_.samples(), (Samples{{"", 30}, {"libc.so.6", 40}}));
}

TEST_F(PlacedProbesTest, AddTheOtherJumpsOfAProbe) {
  std::set<uint64_t> addresses = {20, 50};
  placed_.add_all_of(addresses);
  EXPECT_EQ(addresses, (std::set<uint64_t>{10, 20, 50}));
}

TEST_F(PlacedProbesTest, AreMappedWithTheirFileOnly) {
  const std::string self = "/proc/self/exe";
  Probe probe;
  probe.id = 3, probe.site = UprobeSite{self, 0, false, getpid()};
  placed_.add({.probe = &probe, .needs = {}}, 40, files_);
  EXPECT_TRUE(placed_.has_file(self));
  EXPECT_FALSE(placed_.has_file("/proc/self/maps"));
  PlacedProbe one = placed_.take_lost({}).back();
  EXPECT_FALSE(placed_.has_file(self));
  MappedObject object;
  object.open_path = self, object.address = 0x1000;
  EXPECT_TRUE(is_mapped(one, {{object}}));
  object.address = 0;
  EXPECT_FALSE(is_mapped(one, {{object}}));
  object.address = 0x1000, one.file = FileKey();  // the path leads to another file now
  EXPECT_FALSE(is_mapped(one, {{object}}));
}

TEST(FileKeysTest, LooksAFileUpOnce) {
  const std::string path = testing::TempDir() + "dvm_file_keys_" + std::to_string(getpid());
  std::ofstream(path) << "one";
  FileKeys keys;
  const FileKey before = keys.of(path);
  std::ofstream(path) << "longer";
  EXPECT_EQ(keys.of(path), before);
  EXPECT_NE(FileKeys().of(path), before);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace dvm::runtime
