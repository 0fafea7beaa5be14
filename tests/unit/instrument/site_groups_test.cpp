#include "runtime/agent/site_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace dvm::runtime {
namespace {

using testing::ElementsAre;

AgentSite site(uint64_t function, std::initializer_list<uint32_t> probes) {
  AgentSite made;
  made.function = function;
  for (const uint32_t probe : probes) {
    AgentFirer firer;
    firer.probe = probe;
    made.firers.push_back(firer);
  }
  return made;
}

std::vector<std::string> refusals(std::vector<AgentSite>& sites) {
  SiteGroups(sites).refuse_together();
  std::vector<std::string> all;
  for (const AgentSite& one : sites) all.push_back(one.refusal);
  return all;
}

const std::string kOther(kNotAlone);

TEST(SiteGroups, AFunctionIsRefusedAsAWhole) {
  std::vector<AgentSite> sites = {site(0x1000, {1}), site(0x2000, {2}), site(0x1000, {3})};
  sites[2].refusal = "busy";
  EXPECT_THAT(refusals(sites), ElementsAre(kOther, "", "busy"));
}

TEST(SiteGroups, AProbeIsRefusedAsAWholeWithItsFunctions) {
  std::vector<AgentSite> sites = {site(0x1000, {1}), site(0x2000, {2, 1}), site(0x2000, {3}), site(0x3000, {4})};
  sites[0].refusal = "busy";
  EXPECT_THAT(refusals(sites), ElementsAre("busy", kOther, kOther, ""));
}

TEST(SiteGroups, ThoseOfUnknownFunctionsStandAlone) {
  std::vector<AgentSite> sites = {site(0, {}), site(0, {}), site(0, {5})};
  sites[0].refusal = "busy";
  EXPECT_THAT(refusals(sites), ElementsAre("busy", "", ""));
}

TEST(SiteGroups, GroupsJoinWhicheverComesFirst) {
  std::vector<AgentSite> sites = {site(0x1000, {1}), site(0x2000, {2}), site(0x3000, {1, 2})};
  const SiteGroups groups(sites);
  EXPECT_EQ(groups.of(sites[0]), groups.of(sites[1]));
  EXPECT_EQ(groups.of(sites[0]), groups.of(sites[2]));
}

}  // namespace
}  // namespace dvm::runtime
