// The table of providers; dtrace and profile. The contract that holds for every provider is checked for each row.

#include "runtime/provider/providers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dvm::runtime {
namespace {

const Probe* only_match(Catalog& catalog, const dif::ProbeDesc& description) {
  auto found = catalog.match(description);
  return found.size() == 1 ? found[0] : nullptr;
}

TEST(Providers, AreThoseOfTheTableAndIgnoreWhatIsNotTheirs) {
  std::vector<std::string> names;
  for (const auto& provider : make_providers()) {
    names.emplace_back(provider->name());
    Catalog catalog;
    Discovery found = provider->discover({"syscall", "", "read", "entry"}, catalog);
    EXPECT_EQ(found.reason, "") << provider->name();
    for (const Probe* probe : catalog.match({})) EXPECT_EQ(probe->provider, provider->name());
  }
  EXPECT_THAT(names, testing::ElementsAre("dtrace", "pid", "profile"));
}

TEST(DtraceProvider, HasItsProbesUnderTheFirstIds) {
  Catalog catalog;
  auto provider = make_dtrace_provider();
  for (int twice = 0; twice < 2; twice++) provider->discover({"", "", "", "BEGIN"}, catalog);
  ASSERT_EQ(catalog.size(), 3U);
  EXPECT_EQ(catalog.find(1)->name, "BEGIN");
  EXPECT_EQ(catalog.find(2)->name, "END");
  EXPECT_EQ(catalog.find(3)->name, "ERROR");
  EXPECT_TRUE(std::holds_alternative<InternalSite>(catalog.find(3)->site));
}

struct Period {
  const char* name;
  uint64_t ns;
  bool every_cpu;
};

class ProfileNames : public testing::TestWithParam<Period> {};

TEST_P(ProfileNames, GiveThePeriod) {
  Catalog catalog;
  Discovery found = make_profile_provider()->discover({"", "", "", GetParam().name}, catalog);
  EXPECT_EQ(found.reason, "");
  const Probe* probe = only_match(catalog, {"profile", "", "", GetParam().name});
  ASSERT_NE(probe, nullptr);
  EXPECT_EQ(probe->module + probe->function, "");
  EXPECT_EQ(std::get<TimerSite>(probe->site).period_ns, GetParam().ns);
  EXPECT_EQ(std::get<TimerSite>(probe->site).every_cpu, GetParam().every_cpu);
}

INSTANTIATE_TEST_SUITE_P(All, ProfileNames,
                         testing::Values(Period{"tick-1hz", 1'000'000'000, false}, Period{"tick-10", 100'000'000, false},
                                         Period{"tick-1s", 1'000'000'000, false}, Period{"tick-2sec", 2'000'000'000, false},
                                         Period{"tick-200us", 200'000, false}, Period{"tick-300usec", 300'000, false},
                                         Period{"tick-500000ns", 500'000, false}, Period{"tick-500000nsec", 500'000, false},
                                         Period{"tick-10ms", 10'000'000, false}, Period{"tick-10msec", 10'000'000, false},
                                         Period{"tick-2m", 120'000'000'000, false}, Period{"tick-1min", 60'000'000'000, false},
                                         Period{"tick-1h", 3'600'000'000'000, false},
                                         Period{"tick-1hour", 3'600'000'000'000, false},
                                         Period{"tick-1d", 86'400'000'000'000, false},
                                         Period{"tick-1day", 86'400'000'000'000, false}, Period{"profile-5000", 200'000, true},
                                         Period{"profile-997hz", 1'003'009, true}));

class BadProfileNames : public testing::TestWithParam<const char*> {};

TEST_P(BadProfileNames, AreRefusedWithAReason) {
  Catalog catalog;
  Discovery found = make_profile_provider()->discover({"profile", "", "", GetParam()}, catalog);
  EXPECT_THAT(found.reason, testing::HasSubstr(GetParam()));
  EXPECT_NE(found.tag, "");
  EXPECT_EQ(catalog.size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(All, BadProfileNames,
                         testing::Values("tick-5001hz", "tick-199us", "tick-0", "tick-", "tick-1x", "tick--1s", "profile-1ns",
                                         "tick-99999999999999999999s", "tick-999999999999d", "tick-1 s"));

TEST(ProfileProvider, MakesNothingForOthersDescriptions) {
  Catalog catalog;
  auto provider = make_profile_provider();
  for (const dif::ProbeDesc& description :
       {dif::ProbeDesc{"pid1", "", "", "tick-1s"}, dif::ProbeDesc{"profile", "m", "", "tick-1s"},
        dif::ProbeDesc{"", "", "f", "tick-1s"}, dif::ProbeDesc{"", "", "", "tick-*"}, dif::ProbeDesc{"", "", "", "BEGIN"}}) {
    EXPECT_EQ(provider->discover(description, catalog).reason, "");
  }
  EXPECT_EQ(catalog.size(), 0U);
}

}  // namespace
}  // namespace dvm::runtime
