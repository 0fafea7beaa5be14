// The table of providers; dtrace, profile and usdt. The contract that holds for every provider is checked for each row.

#include "runtime/provider/providers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>

#include "runtime/catalog/catalog.h"
#include "tests/support/skip.h"

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
    Discovery found = provider->discover({"nosuch", "", "read", "entry"}, catalog);
    EXPECT_EQ(found.reason, "") << provider->name();
    for (const Probe* probe : catalog.match({})) EXPECT_EQ(probe->provider, provider->name());
  }
  EXPECT_THAT(names, testing::ElementsAre("dtrace", "pid", "usdt", "syscall", "lx-syscall", "sched", "proc", "io", "vminfo",
                                          "sysinfo", "rawtp", "sdt", "absent", "profile"));
}

TEST(AbsentProvider, SaysWhatThereIsInstead) {
  Catalog catalog;
  const auto reason = [&](const char* provider) {
    return make_absent_provider()->discover({provider, "", "", "start"}, catalog).reason;
  };
  EXPECT_THAT(reason("iscsi"), testing::HasSubstr("dvm has no iscsi provider, for iSCSI; use sdt:::block_rq_issue"));
  EXPECT_THAT(reason("fbt"), testing::HasSubstr("functions of the kernel"));
  EXPECT_THAT(reason("fsinfo"), testing::HasSubstr("fds[arg0].fi_fs"));
  EXPECT_EQ(reason("sched"), "");
  EXPECT_EQ(catalog.size(), 0U);
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
                                         Period{"profile-997hz", 1'003'009, true}, Period{"tick-10MSec", 10'000'000, false}));

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
        dif::ProbeDesc{"", "", "f", "tick-1s"}, dif::ProbeDesc{"", "", "", "*-1"}, dif::ProbeDesc{"", "", "", "BEGIN"}}) {
    EXPECT_EQ(provider->discover(description, catalog).reason, "");
  }
  EXPECT_EQ(catalog.size(), 0U);
}

TEST(ProfileProvider, APatternMeansTheUsualProbes) {
  Catalog catalog;
  auto provider = make_profile_provider();
  EXPECT_EQ(provider->discover({"", "", "", ""}, catalog).reason, "");
  EXPECT_EQ(catalog.size(), 0U) << "the provider is left open";
  EXPECT_EQ(provider->discover({"", "", "", "tick-1*"}, catalog).reason, "");
  EXPECT_EQ(catalog.size(), 4U) << "the name is one of a timer";
  EXPECT_EQ(provider->discover({"prof*", "", "", "tick-*"}, catalog).reason, "");
  EXPECT_EQ(catalog.size(), 6U);
  EXPECT_EQ(provider->discover({"profile", "", "", ""}, catalog).reason, "");
  EXPECT_EQ(catalog.size(), 13U);
}

const std::string kMarkers = DVM_BINARY_DIR "/tests/programs/markers_O0";

class UsdtProvider : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kMarkers)) DVM_SKIP("<sys/sdt.h> is not installed (systemtap-sdt-dev)");
  }
  Discovery discover(const dif::ProbeDesc& description) { return provider_->discover(description, catalog_); }

  Catalog catalog_;
  std::unique_ptr<Provider> provider_ = make_usdt_provider([](int32_t pid) -> Result<std::vector<MappedObject>> {
    if (pid != 42) return Error{"no such process"};
    return std::vector{unmapped_program(kMarkers)};
  });
};

TEST_F(UsdtProvider, PlacesInOneFunctionAreOneProbe) {
  EXPECT_EQ(discover({"dvmtest42", "a.out", "", "round-begin"}).reason, "");
  const auto probes = catalog_.match({"dvmtest42", "", "", ""});
  ASSERT_EQ(probes.size(), 2U);
  EXPECT_EQ(probes[0]->function, "begin_last_round");
  EXPECT_EQ(probes[1]->function, "begin_round");
  const auto& site = std::get<UprobeSite>(probes[1]->site);
  EXPECT_EQ(site.pid, 42);
  EXPECT_NE(site.semaphore, 0U);
  ASSERT_TRUE(site.inside);
  EXPECT_EQ(site.inside->at(1), Operand::memory(saved::rbp, -16));
  EXPECT_EQ(site.inside->at(2).kind, Operand::Kind::none);
}

TEST_F(UsdtProvider, GlobsAndRemarks) {
  EXPECT_EQ(discover({"*test42", "", "", ""}).reason, "");
  EXPECT_EQ(catalog_.size(), 8U);
  EXPECT_THAT(catalog_.match({"", "", "", "numbers"})[0]->remark,
              testing::MatchesRegex("arg3 cannot be read, '16f@.*': its size is not that of a register"));
  discover({"dvmtest42", "", "", ""});
  EXPECT_EQ(catalog_.size(), 8U);
}

TEST_F(UsdtProvider, WhatThereIsNotIsNamed) {
  EXPECT_THAT(discover({"dvmtset42", "", "", ""}).similar, testing::ElementsAre("dvmtest"));
  EXPECT_EQ(discover({"dvmtset42", "", "", ""}).reason, "process 42 has no probes of a provider dvmtset");
  EXPECT_THAT(discover({"dvmtest42", "", "", "round-begim"}).similar, testing::Contains("round-begin"));
  EXPECT_EQ(discover({"dvmtest43", "", "", ""}).reason, "failed to grab process 43: no such process");
  EXPECT_EQ(discover({"dvmtest", "", "", ""}).reason, "");
  EXPECT_EQ(discover({"42", "", "", ""}).reason, "");
  EXPECT_EQ(catalog_.size(), 0U);
}

// The limit is set where the provider asks for the objects: sanitizers need a file for their check of a virtual call.
TEST(UsdtProviders, AFileThatCouldNotBeOpenedIsReadLater) {
  if (!std::filesystem::exists(kMarkers)) DVM_SKIP("<sys/sdt.h> is not installed (systemtap-sdt-dev)");
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{0, limit.rlim_max};
  bool can_open = false;
  const auto provider = make_usdt_provider([&](int32_t) -> Result<std::vector<MappedObject>> {
    std::vector objects{unmapped_program(kMarkers)};
    if (!can_open) setrlimit(RLIMIT_NOFILE, &none);
    return objects;
  });
  Catalog catalog;
  const dif::ProbeDesc description{"dvmtest42", "", "", "round-begin"};
  provider->discover(description, catalog);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(catalog.size(), 0U);
  can_open = true;
  provider->discover(description, catalog);
  EXPECT_EQ(catalog.size(), 2U);
}

TEST_F(UsdtProvider, AFileThatIsExecutedByAnotherNameHasItsProbesOnce) {
  std::string name = "first";
  const auto provider = make_usdt_provider([&](int32_t) -> Result<std::vector<MappedObject>> {
    std::vector objects{unmapped_program(kMarkers)};
    objects[0].name = name;
    return objects;
  });
  for (const char* module : {"", "a.out", "*"}) {
    Catalog catalog;
    for (const char* its : {"first", "second"}) name = its, provider->discover({"dvmtest42", module, "", "round-begin"}, catalog);
    EXPECT_EQ(catalog.size(), 2U) << module;
  }
}

}  // namespace
}  // namespace dvm::runtime
