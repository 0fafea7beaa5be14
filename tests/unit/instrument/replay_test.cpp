// Replay of a recording, recording while tracing, and synthetic firings.

#include "runtime/instrument/replay/replay.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>

namespace dvm::runtime {
namespace {

using testing::ElementsAre;

class Sink : public EventSink {
 public:
  bool fire(vm::Firing& firing) noexcept override {
    times.emplace_back(firing.probe_id, firing.timestamp);
    tids[firing.tid]++;
    if (!firing.memory.empty()) text = reinterpret_cast<const char*>(firing.memory[0].bytes.data());
    execname = firing.execname;
    last = firing;
    return times.size() != stop_at;
  }
  bool has_buffers(int32_t cpu) noexcept override { return cpu != unknown_cpu; }

  size_t stop_at = 0;  // the number of firings after which it asks for the poll to end
  int32_t unknown_cpu = -1;
  std::vector<std::pair<uint32_t, uint64_t>> times;
  std::map<int32_t, int> tids;
  std::string text, execname;
  vm::Firing last;
};

Probe entry(uint32_t id) {
  Probe probe;
  probe.id = id;
  probe.provider = "pid1";
  probe.function = fmt::format("f{}", id);
  probe.name = "entry";
  probe.site = UprobeSite{"", id, false, 1};
  return probe;
}

Probe tick(uint32_t id, uint64_t period) {
  Probe probe;
  probe.id = id;
  probe.provider = "profile";
  probe.name = fmt::format("tick-{}ns", period);
  probe.site = TimerSite{period, false};
  return probe;
}

uint64_t drain(Instrument& instrument, EventSink& sink) {
  uint64_t total = 0;
  while (!instrument.abilities().replays->finished()) {
    auto count = instrument.poll(sink);
    if (!count) {
      ADD_FAILURE() << count.error().message;
      break;
    }
    total += *count;
  }
  return total;
}

class Replay : public testing::Test {
 protected:
  void SetUp() override { path_ = testing::TempDir() + fmt::format("replay-{}.dvm", getpid()); }
  void TearDown() override { std::filesystem::remove(path_); }

  // Firings of the probes 4 and 5 at the given times, by turns.
  std::unique_ptr<ReplayInstrument> recorded(const std::vector<uint64_t>& times) {
    auto writer = RecordingWriter::open(path_, 77);
    for (uint32_t id : {4, 5}) (*writer)->add_probe(entry(id));
    for (size_t i = 0; i < times.size(); i++) {
      vm::Firing firing;
      firing.probe_id = 4 + i % 2;
      firing.timestamp = times[i];
      firing.walltimestamp = times[i] + 1'000'000;
      (*writer)->write(firing);
    }
    EXPECT_TRUE((*writer)->finish(6));
    auto reader = RecordingReader::open(path_);
    EXPECT_TRUE(reader) << reader.error().message;
    return make_replay_instrument(std::move(*reader));
  }

  std::string path_;
  std::vector<Refused> refused_;
  Sink sink_;
};

TEST_F(Replay, FiresOnlyWhatIsEnabled) {
  auto replay = recorded({10, 20, 30, 40});
  Probe four = entry(4), other = entry(6), begin;
  EXPECT_TRUE(replay->takes(four));
  EXPECT_FALSE(replay->takes(begin));
  ASSERT_TRUE(replay->enable(std::vector<EnabledProbe>{{&four, {}}, {&other, {}}}, refused_));
  EXPECT_EQ(drain(*replay, sink_), 2U);
  EXPECT_THAT(sink_.times, ElementsAre(std::pair(4U, 10U), std::pair(4U, 30U)));
  EXPECT_EQ(replay->drops(), 6U);
  EXPECT_TRUE(refused_.empty());
  EXPECT_EQ(replay->pacing().deadline, UINT64_MAX);
}

// A tick is recorded when it fires; what a slow dvm has not fetched yet may be older.
TEST_F(Replay, BeginsBeforeEventsThatFollowAnEarlyTick) {
  auto writer = RecordingWriter::open(path_, 77);
  const Probe four = entry(4), early = tick(5, 100);
  (*writer)->add_probe(four);
  (*writer)->add_probe(early);
  for (const auto& [id, time] : {std::pair(5U, 50U), {4U, 20U}, {4U, 30U}}) {
    vm::Firing firing;
    firing.probe_id = id;
    firing.timestamp = firing.walltimestamp = time;
    (*writer)->write(firing);
  }
  EXPECT_TRUE((*writer)->finish(0));
  auto reader = RecordingReader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  auto replay = make_replay_instrument(std::move(*reader));
  ASSERT_TRUE(replay->enable(std::vector<EnabledProbe>{{&four, {}}}, refused_));
  const auto moment = replay->abilities().replays->moment();
  ASSERT_TRUE(moment);
  EXPECT_EQ(moment->timestamp, 19U);
}

TEST_F(Replay, HandsOutInPieces) {
  std::vector<uint64_t> times(10'000);
  for (size_t i = 0; i < times.size(); i++) times[i] = i + 1;
  auto replay = recorded(times);
  Probe four = entry(4), five = entry(5);
  ASSERT_TRUE(replay->enable(std::vector<EnabledProbe>{{&four, {}}, {&five, {}}}, refused_));
  auto first = replay->poll(sink_);
  ASSERT_TRUE(first);
  EXPECT_GT(*first, 1000U);
  EXPECT_LT(*first, 10'000U);
  EXPECT_FALSE(replay->finished());
  EXPECT_EQ(replay->pacing().deadline, 0U);
  EXPECT_EQ(*first + drain(*replay, sink_), 10'000U);
}

TEST_F(Replay, APollEndsWhenTheSinkAsksForIt) {
  auto replay = recorded({10, 20, 30, 40});
  Probe four = entry(4), five = entry(5);
  ASSERT_TRUE(replay->enable(std::vector<EnabledProbe>{{&four, {}}, {&five, {}}}, refused_));
  sink_.stop_at = 3;
  EXPECT_EQ(*replay->poll(sink_), 3U);
  EXPECT_EQ(*replay->poll(sink_), 1U);
  EXPECT_EQ(sink_.last.timestamp, 40U);
}

TEST_F(Replay, AFiringOfACpuWithoutBuffersIsOfferedAgain) {
  auto replay = recorded({10, 20});
  Probe four = entry(4), five = entry(5);
  ASSERT_TRUE(replay->enable(std::vector<EnabledProbe>{{&four, {}}, {&five, {}}}, refused_));
  sink_.unknown_cpu = 0;
  EXPECT_EQ(*replay->poll(sink_), 0U);
  EXPECT_EQ(*replay->poll(sink_), 0U);
  EXPECT_FALSE(replay->finished());
  sink_.unknown_cpu = -1;
  EXPECT_EQ(drain(*replay, sink_), 2U);
}

TEST_F(Replay, TimersThatWereNotRecordedFollowTheRecordedTime) {
  auto replay = recorded({1000, 1050, 1250, 1300});
  Probe five = entry(5), fast = tick(20, 100), slow = tick(21, 150);
  ASSERT_TRUE(replay->enable(std::vector<EnabledProbe>{{&five, {}}, {&fast, {}}, {&slow, {}}}, refused_));
  drain(*replay, sink_);
  EXPECT_THAT(sink_.times, ElementsAre(std::pair(5U, 1050U), std::pair(20U, 1100U), std::pair(21U, 1150U), std::pair(20U, 1200U),
                                       std::pair(20U, 1300U), std::pair(21U, 1300U), std::pair(5U, 1300U)));
}

// The buffers are emptied between two polls, so the ticks of a long gap have room.
TEST_F(Replay, APollEndsAmongTheTicksOfAGap) {
  auto replay = recorded({1000, 1500});
  Probe five = entry(5), fast = tick(20, 100);
  ASSERT_TRUE(replay->enable(std::vector<EnabledProbe>{{&five, {}}, {&fast, {}}}, refused_));
  sink_.stop_at = 2;
  EXPECT_EQ(*replay->poll(sink_), 2U);
  EXPECT_EQ(replay->abilities().replays->moment()->timestamp, 1201U);
  EXPECT_EQ(*replay->poll(sink_), 4U);
  EXPECT_THAT(sink_.times, ElementsAre(std::pair(20U, 1100U), std::pair(20U, 1200U), std::pair(20U, 1300U), std::pair(20U, 1400U),
                                       std::pair(20U, 1500U), std::pair(5U, 1500U)));
}

TEST_F(Replay, WildTimesDoNotMakeItEndless) {
  auto replay = recorded({1, UINT64_MAX, INT64_MAX, 5, INT64_MAX - 1, UINT64_MAX});
  Probe fast = tick(20, 200'000), slow = tick(21, INT64_MAX);
  ASSERT_TRUE(replay->enable(std::vector<EnabledProbe>{{&fast, {}}, {&slow, {}}}, refused_));
  EXPECT_LT(drain(*replay, sink_), 20'000U);
}

TEST_F(Replay, DisabledFiresNoMore) {
  auto replay = recorded({10, 20});
  Probe four = entry(4);
  ASSERT_TRUE(replay->enable(std::vector<EnabledProbe>{{&four, {}}}, refused_));
  replay->disable();
  EXPECT_EQ(drain(*replay, sink_), 0U);
}

TEST_F(Replay, ARecordedInstrumentHandsOnAndWrites) {
  SyntheticFirings config;
  config.count = 100;
  config.args[0] = 0x5000;
  config.strings = {{0, "hello"}};
  auto writer = RecordingWriter::open(path_, 1000);
  ASSERT_TRUE(writer);
  std::shared_ptr<RecordingWriter> shared = std::move(*writer);
  auto traced = make_recorded_instrument(make_synthetic_instrument(config), shared);
  Probe four = entry(4);
  EXPECT_TRUE(traced->takes(four));
  ASSERT_TRUE(traced->enable(std::vector<EnabledProbe>{{&four, {}}}, refused_));
  EXPECT_EQ(drain(*traced, sink_), 100U);
  ASSERT_TRUE(shared->finish(traced->drops()));

  auto reader = RecordingReader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ((*reader)->target_pid(), 1000);
  auto replay = make_replay_instrument(std::move(*reader));
  ASSERT_TRUE(replay->enable(std::vector<EnabledProbe>{{&four, {}}}, refused_));
  Sink again;
  EXPECT_EQ(drain(*replay, again), 100U);
  EXPECT_EQ(again.times, sink_.times);
  EXPECT_EQ(again.text, "hello");
  EXPECT_EQ(again.execname, "synthetic");
}

TEST(Synthetic, FiresAsOftenAsItShouldFromAllThreads) {
  SyntheticFirings config;
  config.count = 9000;
  config.threads = 3;
  config.pid = 50;
  config.args = {7, 0x1234};
  config.strings = {{1, "text"}, {200, "no such argument"}};
  auto synthetic = make_synthetic_instrument(config);
  Probe four = entry(4);
  std::vector<Refused> refused;
  ASSERT_TRUE(synthetic->enable(std::vector<EnabledProbe>{{&four, {}}}, refused));
  Sink sink;
  EXPECT_EQ(drain(*synthetic, sink), 9000U);
  EXPECT_EQ(sink.tids, (std::map<int32_t, int>{{50, 3000}, {51, 3000}, {52, 3000}}));
  EXPECT_EQ(sink.last.args[0], 7U);
  ASSERT_EQ(sink.last.memory.size(), 1U);
  EXPECT_EQ(sink.last.memory[0].address, 0x1234U);
  EXPECT_EQ(sink.text, "text");
}

TEST(Synthetic, APollEndsWhenTheSinkAsksForIt) {
  SyntheticFirings config;
  config.count = 10;
  auto synthetic = make_synthetic_instrument(config);
  Probe four = entry(4);
  std::vector<Refused> refused;
  ASSERT_TRUE(synthetic->enable(std::vector<EnabledProbe>{{&four, {}}}, refused));
  Sink sink;
  sink.stop_at = 4;
  EXPECT_EQ(*synthetic->poll(sink), 4U);
  EXPECT_EQ(*synthetic->poll(sink), 6U);
}

TEST(Synthetic, WithoutAProbeIsFinishedAtOnce) {
  auto synthetic = make_synthetic_instrument({.count = 5, .args = {}, .strings = {}, .execname = ""});
  EXPECT_TRUE(synthetic->finished());
}

// It was killed before its first firing arrived.
TEST(Recorded, KeepsTheCommandLineOfAProcessThatHasEnded) {
  const std::string path = testing::TempDir() + fmt::format("ended-{}.dvm", getpid());
  auto writer = RecordingWriter::open(path, 0);
  ASSERT_TRUE(writer);
  const pid_t child = fork();
  if (child == 0) pause();
  Probe probe = entry(7);
  std::get<UprobeSite>(probe.site).pid = child;
  (*writer)->add_probe(probe);
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  vm::Firing firing;
  firing.probe_id = 7, firing.pid = child;
  firing.execname = "replay_test";
  (*writer)->write(firing);
  ASSERT_TRUE((*writer)->finish(0));
  auto reader = RecordingReader::open(path);
  unlink(path.c_str());
  ASSERT_TRUE(reader) << reader.error().message;
  ASSERT_EQ((*reader)->processes().size(), 1U);
  EXPECT_THAT((*reader)->processes()[0].command_line, testing::HasSubstr("replay_test"));
  EXPECT_EQ((*reader)->processes()[0].ids.ppid, getpid());
}

}  // namespace
}  // namespace dvm::runtime
