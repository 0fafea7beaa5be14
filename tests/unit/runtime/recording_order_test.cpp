// Two instruments whose firings are merged by their times keep that order while both are recorded.

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <deque>

#include "common/clock.h"
#include "runtime/instrument/pace.h"
#include "runtime/instrument/replay/recording.h"
#include "tests/unit/runtime/session.h"

namespace dvm::runtime::test {
namespace {

// Takes the tick probe of one period, and fires it at the given times.
class Timed final : public Instrument, public Replays, public Merges {
 public:
  Timed(uint64_t period, bool merges) : period_(period), merges_(merges) {}
  std::string_view name() const override { return "timed"; }
  std::string_view refusal(const Probe& probe) const override {
    const auto* timer = std::get_if<TimerSite>(&probe.site);
    return timer != nullptr && timer->period_ns == period_ ? "" : "another period";
  }
  Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>&) override {
    return id_ = probes[0].probe->id, Status();
  }
  Result<uint64_t> poll(EventSink& sink) override {
    uint64_t count = 0;
    for (bool goes_on = true; goes_on && !times.empty() && sink.admits(times.front());)
      goes_on = deliver_until(times.front(), sink, count);
    return count;
  }
  void collect() override { collections++; }
  bool deliver_until(uint64_t time, EventSink& sink, uint64_t& count) override {
    bool goes_on = true;
    for (; goes_on && !times.empty() && times.front() <= time; count++) {
      vm::Firing firing;
      firing.probe_id = id_, firing.timestamp = times.front();
      times.pop_front();
      goes_on = sink.fire(firing);
    }
    return goes_on;
  }
  Pacing pacing() const override { return {}; }
  uint64_t drops() const override { return 0; }
  void disable() override {}
  bool finished() const override { return times.empty(); }
  Abilities abilities() override { return {.replays = this, .merges = merges_ ? this : nullptr}; }

  std::deque<uint64_t> times;
  unsigned collections = 0;

 private:
  uint64_t period_;
  bool merges_;
  uint32_t id_ = 0;
};

// They fill the buffer of the recording several times.
TEST(RecordingOrder, IsThatOfTheTimesOfTwoInstruments) {
  constexpr uint64_t kPairs = 4000;
  const std::string path = testing::TempDir() + "order-" + std::to_string(getpid()) + ".dvm";
  auto opened = RecordingWriter::open(path, 1);
  ASSERT_TRUE(opened);
  const std::shared_ptr<RecordingWriter> writer = std::move(*opened);
  Session session;
  std::array<Timed*, 2> both{};
  for (const uint64_t period : {1, 2}) {
    auto timed = std::make_unique<Timed>(period, period == 2);
    both[period - 1] = timed.get();
    session.handle().add_instrument(make_recorded_instrument(std::move(timed), writer));
    session.handle().catalog().add({0, "profile", "", "", "tick-" + std::to_string(period), TimerSite{period, false}});
  }
  ASSERT_EQ(session.start({clause("tick-1", {print("a")}), clause("tick-2", {print("b")})}), "");
  const uint64_t begin = read_clock(CLOCK_MONOTONIC);
  for (uint64_t i = 0; i < 2 * kPairs; i++) both[i % 2]->times.push_back(begin + i);
  while (session.handle().work()) {
  }
  EXPECT_TRUE(session.handle().stop());
  EXPECT_EQ(writer->events(), 2 * kPairs);
  EXPECT_EQ(session.out().substr(0, 2), "ab");
  EXPECT_EQ(session.out().find("aa"), std::string::npos);
  EXPECT_EQ(session.out().find("bb"), std::string::npos);
}

// Threads would find their rings full if that waited until all has been handled.
TEST(Merging, MakesRoomForFiringsBetweenTheParts) {
  constexpr uint64_t kParts = 3;
  Session session;
  std::array<Timed*, 2> both{};
  for (const uint64_t period : {1, 2}) {
    auto timed = std::make_unique<Timed>(period, period == 2);
    both[period - 1] = timed.get();
    session.handle().add_instrument(std::move(timed));
    session.handle().catalog().add({0, "profile", "", "", "tick-" + std::to_string(period), TimerSite{period, false}});
  }
  ASSERT_EQ(session.start({clause("tick-1", {print("a")}), clause("tick-2", {print("b")})}), "");
  Timed& merged = *both[1];
  const uint64_t begin = read_clock(CLOCK_MONOTONIC);
  for (uint64_t i = 0; i < kParts * kFiringsOfAPart; i++) merged.times.push_back(begin);
  merged.collections = 0;
  EXPECT_TRUE(session.handle().poll() || merged.times.empty());
  EXPECT_TRUE(merged.times.empty());
  EXPECT_GE(merged.collections, kParts);
}

}  // namespace
}  // namespace dvm::runtime::test
