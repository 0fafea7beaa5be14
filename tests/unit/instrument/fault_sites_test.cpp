// Jumps over instructions that may fault, and what goes with them.

#include "runtime/instrument/agent/fault_sites.h"

#include <gtest/gtest.h>

#include <vector>

namespace dvm::runtime {
namespace {

using Addresses = std::vector<uint64_t>;

AgentSite site(uint64_t address, uint64_t function, SignalSet raises) {
  AgentSite made;
  made.window_address = address;
  made.function = function;
  made.raises = raises;
  return made;
}

class FaultSitesTest : public testing::Test {
 protected:
  FaultSitesTest() {
    for (uint32_t i = 0; i < 3; i++) probes_[i].id = i, probes_[i].site = UprobeSite{};
    sites_.add(site(10, 1, 4));
    sites_.add(site(11, 1, 0));
    sites_.add(site(20, 2, 0));
    sites_.add(site(30, 3, 8));
    place(0, {10});
    place(1, {11, 20});  // in two functions
    place(2, {30});
  }
  void place(size_t probe, const Addresses& addresses) {
    for (const uint64_t one : addresses) placed_.add({.probe = &probes_[probe], .needs = {}}, one, files_);
  }

  Probe probes_[3];
  PlacedProbes placed_;
  FileKeys files_;
  FaultSites sites_;
};

TEST_F(FaultSitesTest, GoWithTheirFunctionsAndProbes) {
  EXPECT_EQ(sites_.with(4, placed_), (Addresses{10, 11, 20}));
  EXPECT_EQ(sites_.with(8, placed_), (Addresses{30}));
  EXPECT_EQ(sites_.with(2, placed_), Addresses());
}

TEST_F(FaultSitesTest, RaiseLessWhenAnotherSiteComesToAnAddress) {
  sites_.add(site(30, 3, 1));
  EXPECT_EQ(sites_.raised(), SignalSet{4 | 1});
}

TEST_F(FaultSitesTest, RaiseWhatTheOthersDo) {
  EXPECT_EQ(sites_.raised(), 12);
  sites_.forget(Addresses{10, 11, 20});
  EXPECT_EQ(sites_.raised(), 8);
  EXPECT_EQ(sites_.addresses(), (Addresses{30}));
}

}  // namespace
}  // namespace dvm::runtime
