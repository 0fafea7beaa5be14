// tick-N.
#include "runtime/instrument/timer.h"

#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "runtime/instrument/uprobe/sample_interval.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;

uint64_t now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

void sleep_until(uint64_t deadline) {
  const timespec time{static_cast<time_t>(deadline / 1'000'000'000), static_cast<long>(deadline % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0) {
  }
}

Probe tick(uint32_t id, uint64_t period_ns) {
  Probe probe;
  probe.id = id;
  probe.site = TimerSite{period_ns, false};
  return probe;
}

class Collector final : public EventSink {
 public:
  bool fire(vm::Firing& firing) noexcept override { return all.push_back(firing), true; }
  std::vector<vm::Firing> all;
};

TEST(Timer, TakesTicksOnly) {
  auto timer = make_timer_instrument();
  Probe probe = tick(1, kMillisecond);
  EXPECT_TRUE(timer->takes(probe));
  probe.site = TimerSite{kMillisecond, true};
  EXPECT_FALSE(timer->takes(probe));
  probe.site = InternalSite{};
  EXPECT_FALSE(timer->takes(probe));
  EXPECT_EQ(timer->pacing().deadline, UINT64_MAX);
}

TEST(Timer, FiresWhenDueAndNotBefore) {
  const Probe probe = tick(4, 20 * kMillisecond);
  std::vector<Refused> refused;
  Collector collector;
  auto timer = make_timer_instrument();
  const uint64_t start = now();
  ASSERT_TRUE(timer->enable(std::array{EnabledProbe{&probe, {}}}, refused));
  EXPECT_GE(timer->pacing().deadline, start + 20 * kMillisecond);
  if (now() < timer->pacing().deadline) {
    EXPECT_EQ(*timer->poll(collector), 0u);
  }
  sleep_until(timer->pacing().deadline);
  EXPECT_EQ(*timer->poll(collector), 1u);
  ASSERT_EQ(collector.all.size(), 1u);
  EXPECT_EQ(collector.all[0].probe_id, 4u);
  EXPECT_EQ(collector.all[0].args[0], 0u);
  EXPECT_NE(collector.all[0].args[1], 0u);
  EXPECT_GE(collector.all[0].timestamp, start + 20 * kMillisecond);
  EXPECT_GT(collector.all[0].vtimestamp, 0u);
  EXPECT_GT(collector.all[0].walltimestamp, 1'600'000'000'000'000'000u);
  timer->disable();
  EXPECT_EQ(timer->pacing().deadline, UINT64_MAX);
}

// However late each poll is, deadlines stay on the grid that began at enable().
TEST(Timer, DoesNotDriftAndFiresOnceForDeadlinesThatHavePassed) {
  constexpr uint64_t kPeriod = 2 * kMillisecond;
  const Probe probe = tick(1, kPeriod);
  std::vector<Refused> refused;
  Collector collector;
  auto timer = make_timer_instrument();
  ASSERT_TRUE(timer->enable(std::array{EnabledProbe{&probe, {}}}, refused));
  const uint64_t first = timer->pacing().deadline;
  uint64_t polls = 0;
  while (polls < 5) {
    sleep_until(timer->pacing().deadline + 3 * kPeriod + kPeriod / 2);
    polls += *timer->poll(collector);
    EXPECT_EQ((timer->pacing().deadline - first) % kPeriod, 0u);
  }
  EXPECT_EQ(collector.all.size(), polls);
  EXPECT_GE(timer->missed(), polls * 3);
  EXPECT_EQ((timer->pacing().deadline - first) / kPeriod, polls + timer->missed());
}

TEST(Timer, SeveralFireInTheOrderOfTheirTime) {
  const Probe slow = tick(1, 9 * kMillisecond), fast = tick(2, 6 * kMillisecond);
  std::vector<Refused> refused;
  Collector collector;
  auto timer = make_timer_instrument();
  ASSERT_TRUE(timer->enable(std::vector<EnabledProbe>{{&slow, {}}, {&fast, {}}}, refused));
  sleep_until(timer->pacing().deadline + 4 * kMillisecond);
  EXPECT_EQ(*timer->poll(collector), 2u);
  ASSERT_EQ(collector.all.size(), 2u);
  EXPECT_EQ(collector.all[0].probe_id, 2u);
  EXPECT_EQ(collector.all[1].probe_id, 1u);
}

TEST(Timer, APeriodOfZeroIsRefused) {
  const Probe probe = tick(1, 0);
  std::vector<Refused> refused;
  auto timer = make_timer_instrument();
  ASSERT_TRUE(timer->enable(std::array{EnabledProbe{&probe, {}}}, refused));
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(timer->pacing().deadline, UINT64_MAX);
}

// Samples of these rates would stay in step with timers of 100, 250, 300 or 1000 Hz.
TEST(Sampling, EvenRatesDrift) {
  for (const uint64_t rate : {10u, 50u, 100u, 125u, 250u, 300u, 500u, 1000u, 5000u})
    EXPECT_EQ(sample_interval(1'000'000'000 / rate), 1'000'000'000 / rate + 1'000'000 / rate) << rate;
  for (const uint64_t rate : {1u, 49u, 97u, 99u, 199u, 499u, 997u, 1999u, 4001u, 4999u})
    EXPECT_EQ(sample_interval(1'000'000'000 / rate), 1'000'000'000 / rate) << rate;
  EXPECT_EQ(sample_interval(60'000'000'000), 60'000'000'000u);
}

}  // namespace
}  // namespace dvm::runtime
