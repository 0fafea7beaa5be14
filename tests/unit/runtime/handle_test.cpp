// A session from enable() to stop(): what fires when, what is printed, and the exit status.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <climits>
#include <future>
#include <memory>
#include <string>

#include "common/clock.h"
#include "runtime/instrument/timer.h"
#include "tests/unit/runtime/session.h"

namespace dvm::runtime::test {
namespace {

TEST(Handle, PrintsWhatBeginTraces) {
  Session session;
  session.run({clause("BEGIN", {print("%d and %s\n", {constant(-3), text("more")}), exit_with(7)})});
  EXPECT_EQ(session.out(), "-3 and more\n\n");
  EXPECT_EQ(session.err(), "");
  EXPECT_EQ(session.handle().exit_status(), 7);
}

TEST(Handle, ExitEndsTheFiringButEndRuns) {
  Session session;
  session.run({clause("BEGIN", {print("a ")}), clause("BEGIN", {exit_with(1), print("rest of the clause ")}),
               clause("BEGIN", {print("never ")}), clause("END", {print("end")})});
  EXPECT_EQ(session.out(), "a rest of the clause end\n");
}

TEST(Handle, TheEndIsShownUntilItsOutputIsWritten) {
  Session session;
  std::string events;
  session.show_end([&](const char* what) {
    events += what + (" after '" + session.out()) + "'";
    return std::shared_ptr<void>(nullptr, [&](void*) { events += ", taken away before '" + session.out() + "'; "; });
  });
  session.run({clause("END", {print("end")}), clause("BEGIN", {exit_with(0)})});
  EXPECT_EQ(events, "removing probes after '', taken away before ''; preparing the results after '', taken away before ''; ");
  EXPECT_EQ(session.out(), "end\n");
}

TEST(Handle, EndMayChangeTheExitStatus) {
  Session session;
  session.run({clause("BEGIN", {exit_with(1)}), clause("END", {exit_with(9)})});
  EXPECT_EQ(session.handle().exit_status(), 9);
}

// Prints arg0 of firings on these CPUs, which is their number.
std::string printed_from(Session& session, std::initializer_list<int32_t> cpus) {
  const uint32_t id = session.add_probe("f", "entry");
  uint64_t number = 0;
  for (int32_t cpu : cpus) session.fire(id, {number++}, cpu);
  return session.run({clause("entry", {print("%d,", {built_in(dif::BuiltIn::arg0)})})}).out();
}

TEST(Handle, RecordsOfSeveralCpusComeInTheOrderOfTime) {
  Session session;
  session.set("bufsize", "1k");
  EXPECT_EQ(printed_from(session, {3, 1, 200, 3, 1}), "0,1,2,3,4,\n");
}

TEST(Handle, WithoutTemporalCpuAfterCpu) {
  Session session;
  session.set("temporal", "off").set("bufsize", "1k");
  EXPECT_EQ(printed_from(session, {3, 1, 200, 3, 1}), "0,3,2,1,4,\n");
}

TEST(Handle, ARingKeepsTheNewestOfEachCpu) {
  Session session;
  session.set("bufpolicy", "ring").set("bufsize", "48");
  EXPECT_EQ(printed_from(session, {0, 1, 1, 1, 1, 0, 1}), "0,4,5,6,\n");
}

TEST(Handle, AFilledBufferEndsTracing) {
  Session session;
  session.set("bufpolicy", "fill").set("bufsize", "48");
  EXPECT_EQ(printed_from(session, {0, 1, 1, 0, 1, 0, 1}), "0,1,2,3,\n");
  EXPECT_EQ(session.err(), "");
}

TEST(Handle, ALookHandlesWhatHasFiredAndARestPrintsWhatIsDue) {
  Session session;
  session.set("switchrate", "2ms");
  const uint32_t probe = session.add_probe("f", "entry");
  ASSERT_EQ(session.start({clause("entry", {print("%d,", {built_in(dif::BuiltIn::arg0)})})}), "");
  session.instrument().has_more = true;
  session.fire(probe, {7});
  EXPECT_TRUE(session.handle().poll());
  EXPECT_TRUE(session.instrument().firings.empty());
  EXPECT_EQ(session.out(), "");
  for (int rests = 0; rests < 100 && session.out().empty(); rests++) EXPECT_TRUE(session.handle().wait());
  EXPECT_EQ(session.out(), "7,");
  session.instrument().has_more = false;
  EXPECT_FALSE(session.handle().poll());
}

// Its time comes just before that of the rate. The output after a call of work().
std::string printed_by_tick() {
  Session session;
  session.set("switchrate", "50ms").handle().add_instrument(make_timer_instrument());
  session.handle().discover({"profile", "", "", "tick-50ms"});
  session.instrument().has_more = true;
  EXPECT_EQ(session.start({clause("tick-50ms", {print("tick ")})}), "");
  EXPECT_TRUE(session.handle().work());
  return session.out();
}

// On a busy machine the tick may be due before the rates start.
TEST(Handle, ATickWithThePeriodOfARateIsPrintedAtOnce) {
  std::string printed;
  for (int tries = 0; tries < 5 && printed.empty(); tries++) printed = printed_by_tick();
  EXPECT_EQ(printed, "tick ");
}

// Probes are taken off one after the other.
TEST(Handle, FiringsAfterTheStopAreDropped) {
  constexpr uint64_t kHour = 3'600'000'000'000;
  Session session;
  const uint32_t probe = session.add_probe("f", "entry");
  ASSERT_EQ(session.start({clause("entry", {print("%d,", {built_in(dif::BuiltIn::arg0)})})}), "");
  for (uint64_t hour : {0, 1}) {
    session.fire(probe, {hour});
    session.instrument().firings.back().timestamp = read_clock(CLOCK_MONOTONIC) + hour * kHour;
  }
  EXPECT_TRUE(session.handle().stop());
  EXPECT_EQ(session.out(), "0,\n");
}

// Its first poll takes as long as a backlog that dvm does not get through. Three parts of firings (pace.h) fire then.
class Backlog final : public Instrument {
 public:
  explicit Backlog(uint32_t probe) : probe_(probe) {}
  std::string_view name() const override { return "backlog"; }
  std::string_view refusal(const Probe&) const override { return ""; }
  Status enable(std::span<const EnabledProbe>, std::vector<Refused>&) override { return {}; }
  Result<uint64_t> poll(EventSink& sink) override {
    if (left_ == kAll) usleep(3'010'000);
    const uint64_t before = left_;
    vm::Firing firing;
    firing.probe_id = probe_;
    for (bool goes_on = true; goes_on && left_ > 0; left_--) goes_on = sink.fire(firing);
    return before - left_;
  }
  Pacing pacing() const override { return {}; }
  uint64_t drops() const override { return 0; }
  void disable() override {}

  static constexpr uint64_t kPart = 4096, kAll = 3 * kPart;

 private:
  uint32_t probe_;
  uint64_t left_ = kAll;
};

// What is printed and told if dvm stops with such a backlog.
std::string drained(bool is_interrupted) {
  Session session;
  const uint32_t probe = session.handle().catalog().add({0, "backlog", "", "f", "entry", TimerSite{}}).id;
  session.handle().add_instrument(std::make_unique<Backlog>(probe));
  const auto started =
      session.start({clause("entry", {aggregate(dif::Action::agg_count, 1, {}, 0)})}, {declare(1, dif::Action::agg_count)});
  if (is_interrupted) session.handle().interrupt();
  const Status stopped = session.handle().stop();
  return fmt::format("{}{}{}{}", started, stopped ? "" : stopped.error().message, session.out(), session.err());
}

TEST(Handle, AnInterruptEndsALongDrainAndTheRestIsCounted) {
  auto ended = std::async(std::launch::async, drained, false);
  EXPECT_EQ(drained(true), fmt::format("\n{:>17}\ndvm: firings that dvm had not handled 3 s after the interrupt were dropped\n"
                                       "dvm: {} drops on CPU 0\n",
                                       Backlog::kPart, Backlog::kAll - Backlog::kPart));
  EXPECT_EQ(ended.get(), fmt::format("\n{:>17}\n", Backlog::kAll));
}

// Four keys, then what the action on their aggregation leaves by the end, with records taken long before aggrate.
std::string left_by(dif::ActDesc action) {
  Session session;
  session.set("switchrate", "1ms").set("aggrate", "1h");
  const uint32_t probe = session.add_probe("f", "entry"), other = session.add_probe("f", "return");
  EXPECT_EQ(session.start({clause("entry", {aggregate(dif::Action::agg_sum, 1, {built_in(dif::BuiltIn::arg0), constant(1)}, 1)}),
                           clause("return", {std::move(action), print("done ")})},
                          {declare(1, dif::Action::agg_sum, {kLong})}),
            "");
  session.instrument().has_more = true;
  for (uint64_t key : {1, 2, 3, 4}) session.fire(probe, {key});
  session.fire(other);
  for (int times = 0; times < 100 && session.out().empty(); times++) session.handle().work();
  EXPECT_TRUE(session.handle().stop());
  return session.out();
}

TEST(Handle, RecordsActOnAllThatWasAggregatedBeforeThem) {
  const auto row = [](int key) { return fmt::format("{:>17}{:>17}\n", key, 1); };
  EXPECT_EQ(left_by(on_aggregations(dif::Action::trunc, {1}, {constant(1)})), "done \n" + row(4));
  EXPECT_EQ(left_by(on_aggregations(dif::Action::trunc, {1})), "done \n");
  EXPECT_EQ(left_by(on_aggregations(dif::Action::printa, {1})), "\n" + row(1) + row(2) + row(3) + row(4) + "done \n");
}

TEST(Handle, AggregationsAreReadByTheirId) {
  Session session;
  session.set("aggrate", "1h");
  const uint32_t probe = session.add_probe("f", "entry");
  ASSERT_EQ(session.start({clause("entry", {aggregate(dif::Action::agg_sum, 1, {built_in(dif::BuiltIn::arg0), constant(2)}, 1)})},
                          {declare(1, dif::Action::agg_sum, {kLong})}),
            "");
  for (uint64_t key : {5, 6, 5}) session.fire(probe, {key});
  while (session.handle().work()) {
  }
  ASSERT_TRUE(session.handle().stop());
  const std::vector<AggregatedKey> keys = session.handle().aggregated(1);
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys[0].key, std::string("\5\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(keys[0].state, std::vector<uint64_t>{4});
  EXPECT_EQ(keys[1].state, std::vector<uint64_t>{2});
  EXPECT_TRUE(session.handle().aggregated(7).empty());
}

// Not even firings of the same poll that come after exit() are among what the last record saw.
TEST(Handle, WhatFiresAfterExitIsNotAggregated) {
  Session session;
  const uint32_t probe = session.add_probe("f", "entry"), last = session.add_probe("f", "return");
  for (uint64_t key : {1, 2, 3}) session.fire(probe, {key}, 1);
  session.fire(last);
  for (uint64_t key : {4, 5, 6}) session.fire(probe, {key}, 1);
  session.run({clause("entry", {aggregate(dif::Action::agg_count, 1, {built_in(dif::BuiltIn::arg0)}, 1)}),
               clause("return", {on_aggregations(dif::Action::trunc, {1}, {constant(2)}), exit_with(0)})},
              {declare(1, dif::Action::agg_count, {kLong})});
  EXPECT_EQ(session.out(), fmt::format("\n{:>17}{:>17}\n{:>17}{:>17}\n", 2, 1, 3, 1));
}

TEST(Handle, CpusOfARecordingMayBeAnything) {
  Session session;
  session.set("bufsize", "1k");
  EXPECT_EQ(printed_from(session, {INT32_MIN, -1, INT32_MAX, 300, 8192}), "0,1,2,3,4,\n");
}

TEST(Handle, ColumnsAndHeading) {
  Session session;
  session.loud();
  uint32_t id = session.add_probe("work", "entry");
  session.fire(id, {42}, 3);
  session.run({clause("entry", {action(dif::Action::trace, {built_in(dif::BuiltIn::arg0)})})});
  EXPECT_EQ(session.out(),
            "CPU     ID                    FUNCTION:NAME\n"
            "  3      4                       work:entry                   42\n\n");
}

TEST(Handle, ClauseWithoutActionsSaysThatItFired) {
  Session session;
  session.loud();
  uint32_t id = session.add_probe("f", "entry");
  session.fire(id);
  session.run({clause("entry", {})});
  EXPECT_EQ(session.out(), "CPU     ID                    FUNCTION:NAME\n  0      4                          f:entry \n\n");
}

TEST(Handle, ClauseThatOnlyAggregatesLeavesNoLine) {
  Session session;
  session.loud();
  session.run({clause("BEGIN", {aggregate(dif::Action::agg_count, 1, {}, 0)}),
               clause("END", {aggregate(dif::Action::agg_count, 1, {}, 0)}),
               clause("BEGIN", {action(dif::Action::expression, {constant(1)}), exit_with(0)})},
              {declare(1, dif::Action::agg_count)});
  std::string out = session.out();  // only the line of exit(); its CPU is whichever dvm ran on
  EXPECT_EQ(out.substr(0, out.find('\n')), "CPU     ID                    FUNCTION:NAME");
  EXPECT_EQ(out.substr(out.find('\n') + 4), "      1                           :BEGIN \n\n                2\n");
}

// Finds a probe of this process once a library has been opened.
class LateProvider final : public Provider {
 public:
  explicit LateProvider(const bool& is_there) : is_there_(is_there) {}
  std::string_view name() const override { return "late"; }
  Discovery discover(const dif::ProbeDesc& description, Catalog& catalog) override {
    if (is_there_)
      catalog.add({0, description.provider, "liblate.so", "late", "entry", UprobeSite{"liblate.so", 1, false, getpid()}});
    return {};
  }

 private:
  const bool& is_there_;
};

dif::EcbDesc late_clause(std::vector<dif::ActDesc> actions) {
  dif::EcbDesc desc = clause("entry", std::move(actions));
  desc.probes = {{fmt::format("late{}", getpid()), "liblate*", "", "entry"}};
  return desc;
}

// From a session that waits to one that has matched again.
void open_late(Session& session, bool& is_there) {
  is_there = session.instrument().has_loaded = true;
  session.handle().work();
}

TEST(Handle, WhatIsMappedLateIsMatchedInTheRunningSession) {
  Session session;
  bool is_there = false;
  session.handle().add_provider(std::make_unique<LateProvider>(is_there));
  ASSERT_EQ(session.start({late_clause({print("%d,", {built_in(dif::BuiltIn::arg0)})}),
                           late_clause({aggregate(dif::Action::agg_count, 1, {text("a key that nobody had before")}, 1)})},
                          {declare(1, dif::Action::agg_count, {kString})}),
            "");
  session.handle().work();
  EXPECT_EQ(session.instrument().settled, 0);
  open_late(session, is_there);
  EXPECT_EQ(session.instrument().settled, 1);
  ASSERT_EQ(session.handle().enabled().size(), 1U);
  for (uint64_t i : {7, 8}) session.fire(session.handle().enabled()[0].probe->id, {i});
  session.handle().work();
  open_late(session, is_there);  // nothing is new: no clause fires twice
  session.fire(session.handle().enabled()[0].probe->id, {9});
  session.handle().work();
  EXPECT_TRUE(session.handle().stop());
  EXPECT_EQ(session.out(), "7,8,9,\n  a key that nobody had before                                      3\n");
  EXPECT_EQ(session.err(), "");
}

// Which is known only after the session has asked what they had mapped.
TEST(Handle, WhatTargetsDoJustBeforeTheirEndIsHandled) {
  Session session;
  bool is_there = false;
  session.handle().add_provider(std::make_unique<LateProvider>(is_there));
  ASSERT_EQ(session.start({late_clause({print("late")})}), "");
  session.instrument().has_more = true;
  session.instrument().behind_question = [&] {
    session.instrument().has_loaded = true;
    session.handle().targets_gone();
  };
  for (int i = 0; i < 3; i++)
    if (!session.handle().poll()) break;
  EXPECT_EQ(session.instrument().settled, 1);
  EXPECT_TRUE(session.handle().stop());
}

TEST(Handle, WhatMayNotBeEnabledLateIsSaid) {
  Session session;
  bool is_there = false;
  session.handle().add_provider(std::make_unique<LateProvider>(is_there));
  ASSERT_EQ(session.start({late_clause({action(dif::Action::stop)})}), "");
  open_late(session, is_there);
  EXPECT_EQ(session.instrument().settled, 1);
  EXPECT_TRUE(session.handle().stop());
  EXPECT_EQ(session.err(), "dvm: could not enable probes of files that were mapped late: Destructive actions not allowed\n");
}

}  // namespace
}  // namespace dvm::runtime::test
