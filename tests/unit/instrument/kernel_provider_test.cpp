// The providers of the kernel's events: which probes a description makes. That they fire is seen in tests/runtime.
#include <asm/unistd_64.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "runtime/catalog/catalog.h"
#include "runtime/provider/providers.h"
#include "tests/support/skip.h"

namespace dvm::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> names_of(Catalog& catalog, const dif::ProbeDesc& description) {
  std::vector<std::string> names;
  for (const Probe* probe : catalog.match(description)) names.push_back(probe->function + ":" + probe->name);
  return names;
}

std::vector<std::string> found(Provider& provider, const dif::ProbeDesc& description) {
  Catalog catalog;
  provider.discover(description, catalog);
  return names_of(catalog, description);
}

const KernelEvent& event_of(const Probe& probe) { return std::get<TracepointSite>(probe.site).events.front(); }

TEST(SyscallProvider, MakesEntryAndReturnOfWhatAPatternMeans) {
  auto provider = make_syscall_provider();
  EXPECT_THAT(found(*provider, {"syscall", "", "read", ""}), ElementsAre("read:entry", "read:return"));
  EXPECT_THAT(found(*provider, {"", "", "open?t", "entry"}), ElementsAre("openat:entry"));
  EXPECT_THAT(found(*provider, {"sys*", "", "openat*", "return"}), ElementsAre("openat:return", "openat2:return"));
  EXPECT_THAT(found(*provider, {"syscall", "vmlinux", "read", "entry"}), ElementsAre("read:entry"));
  EXPECT_THAT(found(*provider, {"syscall", "ext4", "read", "entry"}), IsEmpty());
  EXPECT_THAT(found(*provider, {"", "", "", "BEGIN"}), IsEmpty());
}

// A script that names open and open64 gets each call once, and the path as arg0.
TEST(SyscallProvider, LeavesOutTheDirectoryOfOlderNames) {
  Catalog catalog;
  make_syscall_provider()->discover({"syscall", "", "open64", "entry"}, catalog);
  make_syscall_provider()->discover({"syscall", "", "stat64", "entry"}, catalog);
  ASSERT_EQ(catalog.size(), 2U);
  const auto opens = std::get<TracepointSite>(catalog.match({"syscall", "", "open64", "entry"})[0]->site).events;
  const auto stats = std::get<TracepointSite>(catalog.match({"syscall", "", "stat64", "entry"})[0]->site).events;
  ASSERT_EQ(opens.size(), 1U);
  EXPECT_EQ(opens[0].args[0].operand, Operand::of_register(saved::rsi));
  ASSERT_EQ(stats.size(), 2U);
  EXPECT_EQ(stats[0].args[0].operand, Operand::of_register(saved::rdi));
  EXPECT_EQ(stats[1].args[0].operand, Operand::of_register(saved::rsi));
}

// The numbers that this system's headers know are those of the table.
TEST(SyscallProvider, KnowsTheCallsOfTheHeader) {
  std::ifstream header("/usr/include/x86_64-linux-gnu/asm/unistd_64.h");
  if (!header) DVM_SKIP("there is no asm/unistd_64.h (linux-libc-dev)");
  Catalog catalog;
  make_syscall_provider()->discover({"syscall", "", "", "entry"}, catalog);
  std::map<std::string, int> known;
  for (const Probe& probe : catalog.probes()) known[probe.function] = event_of(probe).calls.front();
  constexpr std::string_view kPrefix = "__NR_";
  for (std::string line; std::getline(header, line);) {
    std::istringstream words(line);
    std::string define, name;
    int number = 0;
    if (!(words >> define >> name >> number) || define != "#define" || !name.starts_with(kPrefix)) continue;
    EXPECT_EQ(known[name.substr(kPrefix.size())], number) << name;
  }
}

TEST(SyscallProvider, TakesOldNamesOnlyWhereTheyAreSpelled) {
  auto provider = make_syscall_provider();
  Catalog catalog;
  provider->discover({"syscall", "", "pollsys", "entry"}, catalog);
  EXPECT_THAT(names_of(catalog, {"syscall", "", "pollsys", "entry"}), ElementsAre("pollsys:entry"));
  EXPECT_THAT(names_of(catalog, {"syscall", "", "poll*", "entry"}), IsEmpty());
  EXPECT_THAT(event_of(catalog.probes().front()).calls, ElementsAre(__NR_poll, __NR_ppoll));
}

TEST(SyscallProvider, EveryOldNameMeansCallsAndIsNone) {
  const char* aliases[] = {
#define DVM_SYSCALL_ALIAS(name, calls, arguments) name,
#include "runtime/provider/syscall_aliases.def"
  };
  for (const char* alias : aliases) {
    Catalog catalog;
    make_syscall_provider()->discover({"syscall", "", alias, "entry"}, catalog);
    ASSERT_EQ(catalog.size(), 1U) << alias;
    EXPECT_FALSE(event_of(catalog.probes().front()).calls.empty()) << alias;
    EXPECT_TRUE(catalog.probes().front().spell_function) << alias << " is a system call of Linux";
  }
}

TEST(SyscallProvider, HasTheSameProbesUnderItsOtherName) {
  Catalog catalog;
  auto provider = make_lx_syscall_provider();
  provider->discover({"lx-syscall", "", "read", "entry"}, catalog);
  EXPECT_THAT(names_of(catalog, {"lx-syscall", "", "re*", ""}), ElementsAre("read:entry"));
  EXPECT_THAT(names_of(catalog, {"", "", "read", "entry"}), IsEmpty());
  EXPECT_THAT(found(*provider, {"*syscall", "", "read", "entry"}), IsEmpty());
}

TEST(SyscallProvider, SaysWhatIsNoCallAndWhatIsNear) {
  Catalog catalog;
  auto provider = make_syscall_provider();
  Discovery nothing = provider->discover({"syscall", "", "raed", "entry"}, catalog);
  EXPECT_THAT(nothing.reason, HasSubstr("'raed' is not a system call"));
  EXPECT_THAT(nothing.similar, testing::Contains("read"));
  EXPECT_THAT(provider->discover({"syscall", "", "read", "enter"}, catalog).reason, HasSubstr("entry and return"));
  EXPECT_EQ(provider->discover({"", "", "strlen", "entry"}, catalog).reason, "");
}

TEST(KernelProviders, HaveTheirProbesInTheOrderTheyFire) {
  auto provider = make_proc_provider();
  EXPECT_THAT(found(*provider, {"proc", "", "", "*create"}), ElementsAre(":lwp-create", ":create"));
  EXPECT_THAT(found(*provider, {"proc", "", "", "*start"}), ElementsAre(":start", ":lwp-start"));
  EXPECT_THAT(found(*make_sched_provider(), {"sched", "", "", "o*-cpu"}), ElementsAre(":off-cpu", ":on-cpu"));
}

TEST(KernelProviders, HaveTheModulesOfOtherKernelsWhereTheyAreSpelled) {
  Catalog catalog;
  make_io_provider()->discover({"io", "genunix", "", "start"}, catalog);
  EXPECT_THAT(names_of(catalog, {"io", "genunix", "", "start"}), ElementsAre(":start"));
  EXPECT_THAT(found(*make_sched_provider(), {"sched", "unix", "", "on-cpu"}), ElementsAre(":on-cpu"));
  EXPECT_THAT(found(*make_sched_provider(), {"sched", "genuni?", "", "on-cpu"}), IsEmpty());
  EXPECT_THAT(found(*make_io_provider(), {"io", "nfs", "", "start"}), IsEmpty());
}

// A thread may be preempted after it has set the state in which it is about to sleep.
TEST(SchedProvider, APreemptedThreadDoesNotSleep) {
  Catalog catalog;
  const std::unique_ptr<Provider> providers[] = {make_sched_provider(), make_sysinfo_provider()};
  const auto events = [&](const char* name) {
    for (const auto& provider : providers) provider->discover({"", "", "", name}, catalog);
    return std::get<TracepointSite>(catalog.match({"", "", "", name})[0]->site).events;
  };
  const auto asks = [](const KernelEvent& event, KernelCondition::Is is) {
    return std::any_of(event.when.begin(), event.when.end(), [&](const KernelCondition& one) {
      return one.left.operand == Operand::handed(0) && one.is == is && one.value == 0;
    });
  };
  EXPECT_TRUE(asks(events("sleep").at(0), KernelCondition::Is::equal));
  EXPECT_TRUE(asks(events("preempt").at(1), KernelCondition::Is::different));
  EXPECT_TRUE(asks(events("enqueue").at(1), KernelCondition::Is::different));
  EXPECT_TRUE(asks(events("inv_swtch").at(1), KernelCondition::Is::different));
  EXPECT_EQ(events("off-cpu").at(0).args[2].operand, Operand::handed(0));
}

TEST(KernelProviders, SayWhatLinuxHasNoTracepointFor) {
  Catalog catalog;
  EXPECT_EQ(make_sched_provider()->discover({"sched", "", "", "tick"}, catalog).reason,
            "the kernel has no tracepoint for sched:::tick");
  EXPECT_THAT(make_proc_provider()->discover({"proc", "", "", "exce"}, catalog).similar, testing::Contains("exec"));
  EXPECT_EQ(make_sched_provider()->discover({"", "", "", "tick"}, catalog).reason, "");
  EXPECT_THAT(make_absent_provider()->discover({"fbt", "", "vfs_read", "entry"}, catalog).reason, HasSubstr("sdt:::NAME"));
  EXPECT_EQ(make_proc_provider()->discover({"proc", "", "proc_exit", "exit"}, catalog).reason,
            "probes of proc have no function on Linux: proc:::exit");
  EXPECT_THAT(make_sdt_provider()->discover({"sdt", "", "", "interrupt-start"}, catalog).reason,
              HasSubstr("Linux has no sdt:::interrupt-start; sdt:::irq_handler_entry shows the same"));
  EXPECT_EQ(catalog.size(), 0U);
}

TEST(RawTracepoints, AreThereForEachProbeOfSdtThatLinuxLacks) {
  if (access("/sys/kernel/btf/vmlinux", R_OK) != 0) DVM_SKIP("/sys/kernel/btf/vmlinux cannot be read");
  auto provider = make_sdt_provider();
#define DVM_ABSENT_SDT(name, tracepoint) EXPECT_THAT(found(*provider, {"sdt", "", "", tracepoint}), testing::SizeIs(1)) << name;
#include "runtime/provider/absent_sdt.def"
#undef DVM_ABSENT_SDT
}

TEST(RawTracepoints, AreFoundOnlyByWhoNamesTheProvider) {
  if (access("/sys/kernel/btf/vmlinux", R_OK) != 0) DVM_SKIP("/sys/kernel/btf/vmlinux cannot be read");
  auto provider = make_rawtp_provider();
  EXPECT_THAT(found(*provider, {"", "", "", "sched_switch"}), IsEmpty());
  Catalog catalog;
  const Discovery known = provider->discover({"rawtp", "", "", "sched_switch"}, catalog);
  ASSERT_EQ(known.reason, "");
  EXPECT_THAT(names_of(catalog, {"rawtp", "vmlinux", "", "sched_switch"}), ElementsAre(":sched_switch"));
  EXPECT_THAT(provider->discover({"rawtp", "", "", "sched_swich"}, catalog).similar, testing::Contains("sched_switch"));
}

}  // namespace
}  // namespace dvm::runtime
