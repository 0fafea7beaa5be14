// Which functions an agent would watch in this process, which it does not change.

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "runtime/instrument/agent/agent_planner.h"

namespace dvm::runtime {
namespace {

using inside::Watch;
using Sites = std::vector<AgentPlannedSite>;

// Not that of a sanitizer in this program; 0: the library does not have it.
uint64_t address_of(const char* function, const char* library = "libc.so.6") {
  void* loaded = dlopen(library, RTLD_NOLOAD | RTLD_LAZY);
  return loaded == nullptr ? 0 : reinterpret_cast<uint64_t>(dlsym(loaded, function));
}
uint64_t unwinder() { return address_of("_Unwind_Find_FDE", "libgcc_s.so.1"); }
const AgentSite* site_at(const Sites& sites, uint64_t address) {
  const auto found = std::find_if(sites.begin(), sites.end(), [&](const AgentPlannedSite& one) {
    return one.site.refusal.empty() && one.site.window_address == address;
  });
  return found == sites.end() ? nullptr : &found->site;
}
std::vector<AgentSite> those_of(const Sites& sites, Watch watch) {
  std::vector<AgentSite> found;
  for (const AgentPlannedSite& one : sites)
    if (one.site.watch == watch && one.site.refusal.empty()) found.push_back(one.site);
  return found;
}

class AgentWatches : public testing::Test {
 protected:
  void SetUp() override {
    if (address_of("syscall") == 0) GTEST_SKIP() << "another C library than glibc";
  }

  Delivery delivery_;
  AgentPlanner planner_{delivery_, true};
};

TEST_F(AgentWatches, BeginAtFunctionsOfTheCLibrary) {
  const Sites sites = planner_.watches_of(getpid());
  constexpr std::pair<const char*, Watch> kAll[] = {
      {"prctl", Watch::prctl},           {"clone", Watch::clone},         {"syscall", Watch::syscall},
      {"arch_prctl", Watch::arch_prctl}, {"sigaction", Watch::sigaction}, {"mlockall", Watch::mlockall},
      {"execve", Watch::exec},           {"execveat", Watch::exec},       {"fexecve", Watch::exec},
#define DVM_MEMORY_FUNCTION(function, call, presence) {#function, Watch::function},
#include "runtime/agent/inside/memory_functions.def"
  };
  for (const auto& [name, watch] : kAll) {
    if (address_of(name) == 0) continue;  // an older library
    const AgentSite* site = site_at(sites, address_of(name));
    ASSERT_NE(site, nullptr) << name;
    EXPECT_EQ(site->watch, watch) << name;
    EXPECT_TRUE(site->firers.empty());
  }
  EXPECT_EQ(site_at(sites, address_of("getpid")), nullptr);
  const AgentSite* of_linker = site_at(sites, _r_debug.r_brk);
  ASSERT_NE(of_linker, nullptr);
  EXPECT_EQ(of_linker->watch, Watch::load);
}

TEST_F(AgentWatches, OfAForkLieBehindItsSystemCall) {
  int policy = 0;
  std::ifstream("/proc/sys/vm/overcommit_memory") >> policy;
  if (policy == 2) GTEST_SKIP() << "a child may have no memory of its own";
  constexpr uint64_t kSize = 256;
  const uint64_t plain = address_of("_Fork"), begin = plain != 0 ? plain : address_of("fork");
  const std::vector<AgentSite> forks = those_of(planner_.watches_of(getpid()), Watch::fork);
  EXPECT_TRUE(std::any_of(forks.begin(), forks.end(), [&](const AgentSite& one) {
    constexpr unsigned char kSyscall[] = {0x0f, 0x05};
    const auto* before = reinterpret_cast<const unsigned char*>(one.window_address + one.probed - sizeof kSyscall);
    return one.window_address > begin && one.window_address < begin + kSize && std::equal(before, before + 2, kSyscall);
  }));
}

// Then the kernel holds those that become another program.
TEST_F(AgentWatches, AreNotNeededForExecsWithUprobes) {
  AgentPlanner by_uprobes(delivery_, false);
  EXPECT_TRUE(by_uprobes.watches_of(getpid()).empty());
}

TEST_F(AgentWatches, OfUnwindersComeOnce) {
  if (unwinder() == 0) GTEST_SKIP() << "another unwinder";
  const Sites late = planner_.late_unwinders(getpid());
  ASSERT_FALSE(late.empty());
  for (const AgentPlannedSite& one : late) EXPECT_EQ(one.site.watch, Watch::unwind);
  EXPECT_NE(site_at(late, unwinder()), nullptr);
  EXPECT_TRUE(planner_.late_unwinders(getpid()).empty());
}

// Another tracer has the function by which the linker reports files.
TEST_F(AgentWatches, OfTheLinkerGiveWayToOthers) {
  constexpr uint64_t kPage = 4096;
  const uint64_t function = _r_debug.r_brk, page = function & ~(kPage - 1);
  if (mprotect(reinterpret_cast<void*>(page), kPage, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
    GTEST_SKIP() << "code stays as it is";
  auto& code = *reinterpret_cast<volatile unsigned char*>(function);
  const unsigned char before = code;
  const auto sites_with_breakpoint = [&](AgentPlanner& planner) {
    code = 0xcc;
    Sites sites = planner.watches_of(getpid());
    code = before;
    return sites;
  };
  const Sites around = sites_with_breakpoint(planner_);
  const std::vector<AgentSite> loads = those_of(around, Watch::load);
  EXPECT_EQ(site_at(around, function), nullptr);
  EXPECT_FALSE(loads.empty());
  for (const AgentSite& one : loads) {
    EXPECT_EQ(one.function, loads.front().function);
    EXPECT_EQ(one.raises, 0);
  }
  EXPECT_NE(site_at(planner_.watches_of(getpid()), function), nullptr);
  EXPECT_NE(site_at(sites_with_breakpoint(planner_), function), nullptr);  // by now the jump there is its own
  mprotect(reinterpret_cast<void*>(page), kPage, PROT_READ | PROT_EXEC);
}

// If breakpoints take the probes of its function, a watch may stay without them.
TEST_F(AgentWatches, StayWithoutTheirProbes) {
  Probe entry, ret, inner;
  entry.name = "entry", ret.name = "return", inner.name = "1f";
  const auto planned = [](uint64_t function, Watch watch, std::vector<const Probe*> probes) {
    AgentPlannedSite made;
    made.site.function = function, made.site.watch = watch, made.site.window_address = function + 1;
    made.site.firers.resize(probes.size());
    made.site.semaphores = {1};
    made.probes = std::move(probes);
    return made;
  };
  const auto bare = [&](AgentPlanner& planner, const Sites& sites) {
    std::vector<uint64_t> functions;
    for (const AgentSite& one : planner.bare_watches(sites)) {
      functions.push_back(one.window_address - 1);
      EXPECT_TRUE(one.is_spare && one.firers.empty() && one.semaphores.empty());
      EXPECT_EQ(one.function, 0);
    }
    return functions;
  };
  const Sites sites = {planned(10, Watch::mmap, {&entry, &ret}), planned(20, Watch::mmap, {}),
                       planned(30, Watch::nothing, {&entry}),    planned(40, Watch::munmap, {&entry}),
                       planned(40, Watch::nothing, {&inner}),    planned(50, Watch::syscall, {&entry, &inner}),
                       planned(60, Watch::prctl, {&ret})};
  EXPECT_EQ(bare(planner_, sites), (std::vector<uint64_t>{10, 60}));
  AgentPlanner by_uprobes(delivery_, false);
  EXPECT_TRUE(bare(by_uprobes, sites).empty());
}

}  // namespace
}  // namespace dvm::runtime
