// Backends: which of them takes a clause on a probe, and what they say of the others.

#include "runtime/backend/backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/backend/local/instruments.h"
#include "tests/unit/runtime/session.h"

namespace dvm::runtime::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// Takes the probes of one function, or any.
class Picky final : public Instrument {
 public:
  Picky(std::string name, std::string function) : name_(std::move(name)), function_(std::move(function)) {}
  std::string_view name() const override { return name_; }
  std::string_view refusal(const Probe& probe) const override {
    return function_.empty() || probe.function == function_ ? "" : "another function";
  }
  Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) override {
    preview(probes, refused);
    for (const EnabledProbe& one : probes)
      if (one.probe->function != unfit) enabled.push_back(one.probe->function);
    return {};
  }
  Result<uint64_t> poll(EventSink&) override { return uint64_t{0}; }
  Pacing pacing() const override { return {.deadline = 5, .descriptor = 7, .backlog = 0}; }
  uint64_t drops() const override { return 3; }
  void disable() override { enabled.clear(); }
  bool passes_on() const override { return !unfit.empty(); }
  void preview(std::span<const EnabledProbe> probes, std::vector<Refused>& refused) override {
    for (const EnabledProbe& one : probes)
      if (one.probe->function == unfit)
        refused.push_back({one.probe, "no window"});
      else if (one.probe->function == forbidden)
        refused.push_back({one.probe, "not permitted"});
  }

  bool is_for_others(const Probe&) const override { return is_special; }

  std::vector<std::string> enabled;
  bool is_special = false;
  std::string unfit;      // the function of probes that it refuses once it sees their code
  std::string forbidden;  // and of those that it does not pass on

 private:
  std::string name_, function_;
};

Probe probe_on(const std::string& function) { return {1, "pid1", "a.out", function, "entry", UprobeSite{"a.out", 1, false, 1}}; }

struct Two {
  Two() {
    auto one = std::make_unique<Picky>("first", "f");
    auto other = std::make_unique<Picky>("second", "");
    first = one.get(), second = other.get();
    all.add(std::move(one), "");
    all.add(std::move(other), "it costs more");
  }
  Instruments all{false};
  Picky *first, *second;
};

TEST(Instruments, TheFirstThatTakesAProbeMakesItFire) {
  Two two;
  const Probe f = probe_on("f"), g = probe_on("g");
  std::vector<Refused> refused;
  ASSERT_TRUE(two.all.enable(std::vector<EnabledProbe>{{&f, {}}, {&g, {}}}, refused));
  EXPECT_THAT(two.first->enabled, ElementsAre("f"));
  EXPECT_THAT(two.second->enabled, ElementsAre("g"));
  EXPECT_THAT(refused, IsEmpty());
}

TEST(Instruments, AnAnswerSaysWhyNotAnother) {
  Two two;
  const Answer f = two.all.answer(probe_on("f"), 0), g = two.all.answer(probe_on("g"), 0);
  EXPECT_EQ(f.by, "first");
  ASSERT_EQ(f.others.size(), 1U);
  EXPECT_EQ(f.others[0].name, "second");
  EXPECT_EQ(f.others[0].reason, "it costs more");
  EXPECT_EQ(g.by, "second");
  ASSERT_EQ(g.others.size(), 1U);
  EXPECT_EQ(g.others[0].reason, "another function");
  two.first->is_special = true;
  EXPECT_THAT(two.all.answer(probe_on("g"), 0).others, IsEmpty());
}

TEST(Instruments, AnswerSaysWhatIsPassedOn) {
  for (const bool is_enabled : {true, false}) {
    Two two;
    two.first->unfit = "f";
    const Probe f = probe_on("f");
    const std::vector<EnabledProbe> probes{{&f, {}}};
    EXPECT_EQ(two.all.answer(f, 0).by, "first");
    std::vector<Refused> refused;
    if (is_enabled) {
      ASSERT_TRUE(two.all.enable(probes, refused));
    } else {
      two.all.preview(probes);
    }
    EXPECT_THAT(refused, IsEmpty());
    const Answer answer = two.all.answer(f, 0);
    EXPECT_EQ(answer.by, "second");
    ASSERT_EQ(answer.others.size(), 1U);
    EXPECT_EQ(answer.others[0].name, "first");
    EXPECT_EQ(answer.others[0].reason, "no window");
    EXPECT_EQ(two.second->enabled.size(), is_enabled ? 1U : 0U);
  }
}

// The second refuses it, too. It does not pass probes on, so the third is not asked.
TEST(Instruments, AnswerSaysWhatIsLeftOut) {
  for (const bool is_enabled : {true, false}) {
    Two two;
    two.first->unfit = two.second->forbidden = "f";
    two.all.add(std::make_unique<Picky>("third", ""), "it is slow");
    const Probe f = probe_on("f"), g = probe_on("g");
    const std::vector<EnabledProbe> probes{{&f, {}}, {&g, {}}};
    std::vector<Refused> refused;
    if (is_enabled) {
      ASSERT_TRUE(two.all.enable(probes, refused));
    } else {
      two.all.preview(probes);
    }
    const Answer answer = two.all.answer(f, 0);
    EXPECT_FALSE(answer.is_taken());
    EXPECT_EQ(answer.reason, "not permitted");
    std::vector<std::string> reasons;
    for (const PassedOver& other : answer.others) reasons.push_back(other.name + ": " + other.reason);
    EXPECT_THAT(reasons, ElementsAre("first: no window", "second: not permitted", "third: it is slow"));
    EXPECT_EQ(two.all.answer(g, 0).by, "second");
    two.second->forbidden = "";
    two.all.preview(probes);
    EXPECT_EQ(two.all.answer(f, 0).by, "second");
  }
}

TEST(Instruments, WhatNoneTakesIsRefused) {
  Instruments all(false);
  all.add(std::make_unique<Picky>("first", "f"), "");
  const Probe g = probe_on("g");
  EXPECT_FALSE(all.answer(g, 0).is_taken());
  std::vector<Refused> refused;
  ASSERT_TRUE(all.enable(std::vector<EnabledProbe>{{&g, {}}}, refused));
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].reason, "no instrument can make it fire");
  EXPECT_THAT(all.active(), IsEmpty());
}

TEST(Instruments, OnlyThoseWithAProbeAreAsked) {
  Two two;
  const Probe f = probe_on("f");
  std::vector<Refused> refused;
  std::vector<int> descriptors;
  EXPECT_EQ(two.all.next_poll(100, descriptors), 100U);
  ASSERT_TRUE(two.all.enable(std::vector<EnabledProbe>{{&f, {}}}, refused));
  EXPECT_EQ(two.all.next_poll(100, descriptors), 5U);
  EXPECT_THAT(descriptors, ElementsAre(7));
  EXPECT_EQ(two.all.lost_firings(), 3U);
  Drops drops;
  two.all.add_drops(drops, 2);
  EXPECT_THAT(drops.of(Drop::principal), ElementsAre(3U, 0U));
}

TEST(LocalBackend, BuffersAreEmptiedBeforeTheyAreFull) {
  Session session;
  session.set("bufsize", "256");
  const uint32_t id = session.add_probe("f", "entry");
  for (uint64_t i = 0; i < 300; i++) session.fire(id, {i}, static_cast<int32_t>(i % 2));
  session.run({clause("entry", {print("%d ", {built_in(dif::BuiltIn::arg0)})})});
  std::string expected;
  for (int i = 0; i < 300; i++) expected += std::to_string(i) + " ";
  EXPECT_EQ(session.out(), expected + "\n");
  EXPECT_EQ(session.handle().drops(), 0U);
}

// Takes tick probes, and is late whenever it is asked. Fires once a poll.
class LateClock final : public Instrument, public Replays {
 public:
  explicit LateClock(uint64_t& polls) : polls_(polls) {}
  std::string_view name() const override { return "late clock"; }
  std::string_view refusal(const Probe& probe) const override {
    return std::holds_alternative<TimerSite>(probe.site) ? "" : "no tick";
  }
  Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>&) override {
    return id_ = probes[0].probe->id, Status();
  }
  Result<uint64_t> poll(EventSink& sink) override {
    if (!is_on_) return uint64_t{0};
    vm::Firing firing;
    firing.probe_id = id_;
    return polls_++, sink.fire(firing), uint64_t{1};
  }
  Pacing pacing() const override {
    return {.deadline = is_on_ ? 1 : UINT64_MAX, .descriptor = -1, .backlog = 0, .fires_then = true};
  }
  uint64_t drops() const override { return 0; }
  void disable() override { is_on_ = false; }
  bool finished() const override { return true; }
  Abilities abilities() override { return {.replays = this}; }

 private:
  uint64_t& polls_;
  uint32_t id_ = 0;
  bool is_on_ = true;
};

// Runs a flood of firings beside a tick that is always late. Returns the output: a dot for each, and '!' for the tick.
std::string flooded(std::string_view bufsize, uint64_t& polls) {
  Session session;
  session.set("bufsize", bufsize);
  const uint32_t id = session.add_probe("f", "entry");
  session.handle().catalog().add({0, "profile", "", "", "tick-1", TimerSite{1, false}});
  session.handle().add_instrument(std::make_unique<LateClock>(polls));
  for (int i = 0; i < 20000; i++) session.fire(id);
  return session.run({clause("entry", {print(".")}), clause("tick-1", {print("!")})}).out();
}

TEST(LocalBackend, ALateTickWaitsForAPartOfTheFirings) {
  uint64_t polls = 0;
  const std::string out = flooded("4m", polls);
  EXPECT_EQ(std::count(out.begin(), out.end(), '.'), 20000);
  EXPECT_EQ(out.find(std::string(4097, '.')), std::string::npos);
  EXPECT_GE(polls, 4U);
}

TEST(LocalBackend, ALateTickFiresBetweenRecordsThatArePrinted) {
  uint64_t polls = 0;
  const std::string out = flooded("64k", polls);
  EXPECT_EQ(std::count(out.begin(), out.end(), '.'), 20000);
  EXPECT_GT(polls, 200U);
}

TEST(Placements, AreOneForAllProbesOfTheSameAnswer) {
  Session session;
  session.add_probe("f", "entry"), session.add_probe("g", "entry");
  ASSERT_EQ(session.start({clause("entry", {}), clause("BEGIN", {})}), "");
  const std::vector<Placement> all = session.handle().placements();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].clause, 0U);
  EXPECT_EQ(all[0].probes, 2U);
  EXPECT_EQ(all[0].probe->function, "f");
  EXPECT_EQ(all[0].backend, "local");
  EXPECT_EQ(all[0].by, "manual");
  EXPECT_EQ(all[0].engine, "interp");
  EXPECT_EQ(all[1].by, "dvm itself");
}

TEST(Placements, NameOtherInstrumentsAndTheirReasons) {
  Session session;
  session.handle().add_instrument(std::make_unique<Picky>("other", "f"), "manual is asked first");
  session.add_probe("f", "entry"), session.add_probe("g", "entry");
  ASSERT_EQ(session.start({clause("entry", {})}), "");
  const std::vector<Placement> all = session.handle().placements();
  ASSERT_EQ(all.size(), 2U);
  const std::string problem = vm::kEngines[1].problem();
  const auto engine = Pair("llvm", problem.empty() ? "translating it does not pay yet" : problem.substr(0, problem.find('\n')));
  EXPECT_THAT(all[0].others, ElementsAre(Pair("other", "manual is asked first"), engine));
  EXPECT_THAT(all[1].others, ElementsAre(Pair("other", "another function"), engine));
}

}  // namespace
}  // namespace dvm::runtime::test
