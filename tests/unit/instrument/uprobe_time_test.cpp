// The CPU time of threads at firings of uprobes.

#include <gtest/gtest.h>
#include <time.h>

#include "common/clock.h"
#include "runtime/instrument/uprobe/cpu_clock.h"
#include "tests/unit/instrument/uprobe_fixture.h"

namespace dvm::runtime {
namespace {

// Whatever else the machine does, a firing's CPU time lies between what the thread reads before it and after it. Half a ms is
// allowed for what the clock leaves out (cpu_clock.h): interrupts and a hypervisor's pauses since the scheduler last looked.
TEST_F(Uprobe, VirtualTimeLiesBetweenTheThreadsClockBeforeAndAfter) {
  constexpr int64_t kAllowed = 500'000;
  constexpr size_t kTimes = 200;
  TracedChild child({[] {
    const auto cpu_time = [] { return static_cast<long>(read_clock(CLOCK_THREAD_CPUTIME_ID)); };
    for (size_t i = 0; i < kTimes; i++) {
      for (size_t spin = 0; spin < i * 500; spin++) traced_sink = static_cast<long>(spin);
      traced_plain(cpu_time());
      traced_second(cpu_time());
    }
  }});
  const Probe before = probe_on(child.pid(), &traced_plain, 1), after = probe_on(child.pid(), &traced_second, 2);
  CaptureNeeds needs;
  needs.vtime = needs.thread = true;
  needs.args = 1;
  const auto seen = trace(child, {{&before, needs}, {&after, needs}});
  ASSERT_EQ(seen.size(), 2 * kTimes);
  for (size_t i = 0; i < seen.size(); i += 2) {
    const auto time = static_cast<int64_t>(seen[i].firing.vtimestamp);
    EXPECT_GE(time, static_cast<int64_t>(seen[i].firing.args[0]) - kAllowed) << i;
    EXPECT_LE(time, static_cast<int64_t>(seen[i + 1].firing.args[0]) + kAllowed) << i;
    EXPECT_GE(seen[i + 1].firing.vtimestamp, seen[i].firing.vtimestamp) << i;
  }
}

// The same from a program that may sleep and makes its record in the ring.
TEST_F(Uprobe, VirtualTimeComesWithMemoryToo) {
  TracedChild child({[] {
    for (int i = 0; i < 10; i++) traced_text("text");
  }});
  const Probe probe = probe_on(child.pid(), &traced_text, 1);
  CaptureNeeds needs;
  needs.vtime = needs.thread = true;
  needs.add({0, true, 0, 1024, {}});
  const auto seen = trace(child, {{&probe, needs}});
  ASSERT_EQ(seen.size(), 10u);
  for (size_t i = 1; i < seen.size(); i++) EXPECT_GE(seen[i].firing.vtimestamp, seen[i - 1].firing.vtimestamp);
  EXPECT_GT(seen.back().firing.vtimestamp, seen.front().firing.vtimestamp);
  EXPECT_LT(seen.back().firing.vtimestamp, 60'000'000'000u);  // the child has hardly run
}

TEST(ThreadTimes, NeverGoBack) {
  ThreadTimes times;
  EXPECT_EQ(times.advance(1, 100), 100u);
  EXPECT_EQ(times.advance(1, 90), 100u);
  EXPECT_EQ(times.advance(2, 50), 50u);
  EXPECT_EQ(times.advance(1, 101), 101u);
}

}  // namespace
}  // namespace dvm::runtime
