// File descriptors that uprobes take.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <deque>
#include <filesystem>
#include <iterator>

#include "tests/unit/instrument/uprobe_fixture.h"

namespace dvm::runtime {
namespace {

size_t open_descriptors() { return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {})); }

class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t soft) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit lower{soft, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &lower);
  }
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(Uprobe, KeepsNoDescriptorsOfProcessesThatHaveEnded) {
  auto instrument = make_uprobe_instrument();
  std::deque<Probe> probes;
  size_t first = 0;
  for (int i = 0; i < 5; i++) {
    TracedChild child({[] { traced_plain(1); }});
    const Probe& probe = probes.emplace_back(probe_on(child.pid(), &traced_plain, 1));
    ASSERT_TRUE(instrument->enable(std::array{EnabledProbe{&probe, {}}}, refused_));
    EXPECT_TRUE(child.call(0));
    if (i == 0) first = open_descriptors();
    EXPECT_EQ(open_descriptors(), first);
  }
  Counter counter;
  ASSERT_TRUE(instrument->poll(counter));
  EXPECT_EQ(counter.count[1], 5u);
}

// Each set of needs takes a program and a link.
TEST_F(Uprobe, MayTakeMoreDescriptorsThanTheLimitIsAtFirst) {
  constexpr unsigned kSets = 64;
  TracedChild child({[] { traced_plain(1); }});
  std::deque<Probe> probes;
  std::vector<EnabledProbe> enabled;
  for (unsigned args = 0; args < kSets; args++) {
    CaptureNeeds needs;
    needs.args = static_cast<uint16_t>(args);
    enabled.push_back({&probes.emplace_back(probe_on(child.pid(), &traced_plain, args + 1)), needs});
  }
  const DescriptorLimit limit(open_descriptors() + kSets);
  EXPECT_EQ(trace(child, enabled).size(), kSets);
}

}  // namespace
}  // namespace dvm::runtime
