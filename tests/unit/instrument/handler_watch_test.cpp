// Sites whose instructions may fault, and handlers that would see where.

#include "runtime/agent/handler_watch.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/agent/unfit_sites.h"

namespace dvm::runtime {
namespace {

using inside::Watch;

constexpr SignalSet kRaised = 4, kOther = 8;

class Sites {
 public:
  void add(uint64_t function, SignalSet raises, Watch watch = Watch::nothing) {
    AgentSite site;
    site.window_address = 0x1000 * (all_.size() + 1);
    site.function = function;
    site.raises = raises;
    site.watch = watch;
    all_.push_back(site);
  }
  // Their refusals, an 'x' each.
  std::string refused_if_handled(SignalSet handled) {
    HandlerWatch::refuse_handled(pointers(), SiteGroups(all_), handled, kRaises);
    return refusals();
  }
  std::string refused_if_unseen(const HandlerWatch& watch) {
    watch.refuse_unseen(pointers());
    return refusals();
  }

 private:
  std::vector<AgentSite*> pointers() {
    std::vector<AgentSite*> found;
    for (AgentSite& site : all_) found.push_back(&site);
    return found;
  }
  std::string refusals() const {
    std::string found;
    for (const AgentSite& site : all_) found += site.refusal.empty() ? '.' : 'x';
    return found;
  }
  std::vector<AgentSite> all_;
};

AgentSite watched(Watch watch, uint64_t address, std::string refusal = {}) {
  AgentSite site;
  site.watch = watch;
  site.window_address = address;
  site.refusal = std::move(refusal);
  return site;
}

TEST(HandlerWatch, RefusesWhatRaisesAHandledSignal) {
  Sites sites;
  sites.add(1, kRaised), sites.add(2, kOther), sites.add(3, 0);
  EXPECT_EQ(sites.refused_if_handled(0), "...");
  EXPECT_EQ(sites.refused_if_handled(kRaised), "x..");
}

TEST(HandlerWatch, RefusesWhatRaisesAnyInAFunctionThatIsWatched) {
  Sites sites;
  sites.add(1, 0, Watch::sigaction), sites.add(1, kRaised), sites.add(2, kRaised);
  EXPECT_EQ(sites.refused_if_handled(0), ".x.");
}

TEST(HandlerWatch, RefusesAllUnlessEachFunctionIsWatched) {
  HandlerWatch watch;
  Sites sites;
  sites.add(1, 0);
  watch.note(watched(Watch::sigaction, 1));
  watch.note(watched(Watch::syscall, 2));
  EXPECT_EQ(sites.refused_if_unseen(watch), ".");
  sites.add(2, kRaised);
  EXPECT_EQ(sites.refused_if_unseen(watch), "..");
  watch.note(watched(Watch::sigaction, 1, "its code is that of a jump"));
  watch.note(watched(Watch::prctl, 3, "no room"));
  EXPECT_EQ(sites.refused_if_unseen(watch), "..");
  watch.note(watched(Watch::sigaction, 4, "no room"));
  EXPECT_EQ(sites.refused_if_unseen(watch), ".x");
}

TEST(HandlerWatch, RefusesDataOfFilesUnlessItsProtectionIsWatched) {
  HandlerWatch watch;
  Sites sites;
  sites.add(1, kFileData);
  for (const Watch one : {Watch::syscall, Watch::mmap, Watch::munmap, Watch::mremap, Watch::mprotect})
    watch.note(watched(one, static_cast<uint64_t>(one)));
  EXPECT_EQ(sites.refused_if_unseen(watch), ".");
  watch.note(watched(Watch::mprotect, 4, "no room"));
  EXPECT_EQ(sites.refused_if_unseen(watch), "x");
}

TEST(HandlerWatch, RefusesDataOfFilesIfAFunctionThatNotEveryProcessHasCannotBeWatched) {
  HandlerWatch watch;
  Sites sites;
  sites.add(1, kFileData);
  for (const Watch one : {Watch::syscall, Watch::mmap, Watch::munmap, Watch::mremap, Watch::mprotect})
    watch.note(watched(one, static_cast<uint64_t>(one)));
  watch.note(watched(Watch::madvise, 4, "no room"));
  EXPECT_EQ(sites.refused_if_unseen(watch), "x");
}

TEST(HandlerWatch, RefusesAllUnlessEveryFunctionIsWatched) {
  const auto refused = [](std::vector<Watch> all, Watch without, SignalSet raises) {
    HandlerWatch watch;
    for (const Watch one : all)
      if (one != without) watch.note(watched(one, static_cast<uint64_t>(one)));
    Sites sites;
    sites.add(1, raises);
    return sites.refused_if_unseen(watch) == "x";
  };
  const std::vector<Watch> by_data = {Watch::syscall, Watch::mmap, Watch::munmap, Watch::mremap, Watch::mprotect};
  for (const Watch one : by_data) EXPECT_TRUE(refused(by_data, one, kFileData));
  const std::vector<Watch> by_signals = {Watch::syscall, Watch::sigaction};
  EXPECT_FALSE(refused(by_signals, Watch::nothing, kRaised));
  for (const Watch one : by_signals) EXPECT_TRUE(refused(by_signals, one, kRaised));
}

TEST(HandlerWatch, RefusesAllIfNoneIsWatched) {
  Sites sites;
  sites.add(1, kRaised), sites.add(2, 0);
  EXPECT_EQ(sites.refused_if_unseen(HandlerWatch()), "x.");
}

}  // namespace
}  // namespace dvm::runtime
