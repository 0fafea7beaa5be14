// Times in threads are those that dvm gives the same ticks, and lines change without a thread noticing.

#include "runtime/instrument/agent/thread_clock.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/agent/inside/time.h"
#include "runtime/instrument/agent/tsc_clock.h"

namespace dvm::runtime {
namespace {

TEST(ThreadClock, GoesAsDvmsDoes) {
  TscClock clock;
  const inside::ClockLine line = clock.line();
  for (const uint64_t later : {0ULL, 1ULL, 1000ULL, 1'000'000ULL, 20'000'000ULL}) {
    const uint64_t ticks = clock.ticks_of_reading() + later;
    const auto apart = static_cast<int64_t>(inside::time_on(line, ticks) - clock.time_of(ticks));
    EXPECT_LE(apart, 2);
    EXPECT_GE(apart, -2);
  }
}

// Readings are some ns off. What is below an earlier time in another thread would be a huge difference.
TEST(ThreadClock, NeverGoesBackFromOneLineToTheNext) {
  constexpr uint64_t kPoll = 3'000'000, kTick = uint64_t{1} << (inside::kRateBits - 1);  // of 0.5 ns
  inside::ClockLine line = inside::line_through(1000, 500, kTick);
  uint64_t ticks = 1000;
  for (int i = 0; i < 500; i++) {
    ticks += kPoll;
    const inside::ClockLine next = line_after(line, ticks, ticks / 2 + i * 7919 % 60, kTick + i * 31 % 5);
    for (const uint64_t later : {0, 1, 2, 3, 1000}) EXPECT_GE(time_on(next, ticks + later), time_on(line, ticks + later));
    EXPECT_LE(time_on(next, ticks), ticks / 2 + 200);
    line = next;
  }
}

TEST(ThreadClock, GoesBackWithTheTicks) {
  const inside::ClockLine line = inside::line_through(1000, 5000, uint64_t{1} << (inside::kRateBits - 1));
  EXPECT_EQ(inside::time_on(line, 1010), 5005);
  EXPECT_EQ(inside::time_on(line, 990), 4995);
  EXPECT_EQ(inside::time_on(line, 1000 + (uint64_t{1} << 50)), 5000 + (uint64_t{1} << 49));
}

TEST(ThreadClock, ReadsTheLineThatWasPublishedLast) {
  const int file = memfd_create("clock", 0);
  ASSERT_EQ(ftruncate(file, 4096), 0);
  void* mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const auto& header = *static_cast<const inside::DataHeader*>(mapped);
  for (uint64_t i = 1; i < 6; i++) {
    publish({i, 10 * i}, file);
    const inside::ClockLine line = inside::current_line(header);
    EXPECT_EQ(line.rate, i);
    EXPECT_EQ(line.begin, 10 * i);
    EXPECT_EQ(header.clock[(i & 1) ^ 1].rate, i - 1);  // a thread may still read it
  }
  munmap(mapped, 4096);
  close(file);
}

}  // namespace
}  // namespace dvm::runtime
