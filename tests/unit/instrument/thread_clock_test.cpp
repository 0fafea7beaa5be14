// Times in threads are those that dvm gives the same ticks, and lines change without a thread noticing.

#include "runtime/instrument/agent/thread_clock.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

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

// A clock of 0.4 ns a tick, read some ns too early or too late.
class ClockOfPolls {
 public:
  ClockReading read(uint64_t ns) {
    at_ += ns;
    slewed_ += static_cast<double>(ns) * slew;
    return {ticks(), time() + number_++ * 7919 % 41 - 20};
  }
  uint64_t ticks() const { return kStart + jumped + at_ * 5 / 2; }
  uint64_t time() const { return kStart + at_ + static_cast<uint64_t>(slewed_); }
  double slew = 0;      // the clock's rate beyond that
  uint64_t jumped = 0;  // ticks that the clock knows nothing of

 private:
  static constexpr uint64_t kStart = 1'000'000'000'000;
  uint64_t at_ = 0, number_ = 0;
  double slewed_ = 0;
};
constexpr uint64_t kPollNs = 4'000'000, kSecond = 1'000'000'000;

int64_t apart(uint64_t one, uint64_t other) { return std::abs(static_cast<int64_t>(one - other)); }

TEST(ThreadClock, IsRightWhileDvmDoesNotRunForAMinute) {
  ClockOfPolls clock;
  TscClock ticks(clock.read(0));
  for (uint64_t ns = 0; ns < 30 * kSecond; ns += kPollNs) ticks.take(clock.read(kPollNs));
  const inside::ClockLine line = ticks.line();
  clock.read(60 * kSecond);
  EXPECT_LE(apart(inside::time_on(line, clock.ticks()), clock.time()), 1000);
}

// By ntpd, which may slew it by 500 ppm.
TEST(ThreadClock, FollowsAClockThatChangesItsRate) {
  ClockOfPolls clock;
  TscClock ticks(clock.read(0));
  for (uint64_t ns = 0; ns < 30 * kSecond; ns += kPollNs) ticks.take(clock.read(kPollNs));
  for (const double slew : {5e-4, 0.0}) {
    clock.slew = slew;
    for (int poll = 0; poll < 100; poll++) {
      ticks.take(clock.read(kPollNs));
      const inside::ClockLine line = ticks.line();
      if (poll < 3) continue;
      ClockOfPolls later = clock;
      later.read(kPollNs);
      EXPECT_LE(apart(ticks.time_of(later.ticks()), later.time()), 1000) << poll;
      if (poll > 50) {
        EXPECT_LE(apart(inside::time_on(line, later.ticks()), later.time()), 1000) << poll;
      }
    }
  }
}

// As when the system sleeps.
TEST(ThreadClock, FollowsTicksThatJumpHoweverOftenDvmPolls) {
  for (const uint64_t every : {200'000, 500'000, 1'000'000, 4'000'000})
    for (const int64_t jump : {3'000'000'000L, -3'000'000'000L, 2'000'000L, 250'000L, 5'000L}) {
      ClockOfPolls clock;
      TscClock ticks(clock.read(0));
      for (uint64_t ns = 0; ns < 5 * kSecond; ns += every) ticks.take(clock.read(every));
      clock.jumped += static_cast<uint64_t>(jump);
      for (uint64_t ns = 0; ns < 3 * kSecond / 10; ns += every) ticks.take(clock.read(every));
      ClockOfPolls later = clock;
      later.read(4 * kPollNs);
      EXPECT_LE(apart(ticks.time_of(later.ticks()), later.time()), 1000) << every << " " << jump;
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
