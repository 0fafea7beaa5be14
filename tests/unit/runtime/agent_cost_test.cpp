// Sums of an agent's rows, worked out by hand.

#include "runtime/cost/agent_cost.h"

#include <gtest/gtest.h>

#include "tests/unit/runtime/priced_clauses.h"

namespace dvm::runtime::test {
namespace {

const dif::ProbeDesc kFunction{"pid1", "a.out", "f", "entry"};

vm::Profile with_agent() {
  vm::Profile profile;
  profile.clock_hz = 1e9;
  profile.set("agent/stub/entry"_row, {4, 0, 0.5});
  profile.set("agent/stub/common"_row, {20, 0, 1});
  profile.set("agent/lane/find"_row, {1, 0, 0});
  profile.set("agent/lane/take"_row, {2, 0, 0.25});
  profile.set("agent/lane/record"_row, {9, 0, 1});
  profile.set("agent/lane/read"_row, {40, 0.5, 2});
  profile.set("agent/site/expression"_row, {0.5, 0.25, 0});
  profile.set("agent/site/far_string"_row, {900, 0, 0});
  profile.set("agent/site/heap_string"_row, {30, 0, 0});
  profile.set("agent/lane/heap_string"_row, {20, 0.5, 0});
  profile.set("agent/lane/heap_bytes"_row, {10, 0.25, 0});
  profile.set("capture/string"_row.in(kInAgent), {600, 2, 0});
  profile.set("capture/bytes"_row.in(kInAgent), {500, 1, 0});
  profile.set("agent/site/fault"_row, {700, 0, 0});
  profile.set("agent/lane/update"_row, {25, 0, 0});
  profile.set("agent/lane/add"_row, {200, 0, 0});
  profile.set("agent/lane/entered_frame"_row, {0, 2, 0});
  profile.set("capture/stack"_row.in(kInAgent), {0, 5, 0});
  profile.set("aggregation/count"_row.in(kInAgent), {2, 0, 0});
  profile.set("aggregation/count"_row, {11, 0, 0});
  profile.set("prepare/ecb"_row, {6, 0, 0});
  profile.set("source/pid/trigger"_row, {1000, 0, 0});
  return profile;
}

AgentWay counting_way(bool is_at_site, bool is_gated) {
  AgentWay way;
  way.is_at_site = is_at_site, way.is_gated = is_gated;
  SiteUses uses;
  if (is_gated) uses.predicate = {{"agent/site/expression"_row, 4}};
  uses.actions = {{"aggregation/count"_row}};
  way.clauses = {uses};
  return way;
}

ProbePrediction predicted_by(const AgentWay& way, bool has_predicate, double probability = 1, double rate = 0) {
  PredictOptions options;
  options.probability = probability;
  options.agent = {{text_of(kFunction), way}};
  if (rate > 0) options.rates = {{text_of(kFunction), rate}};
  return predicted({on(kFunction, {counting()}, has_predicate)}, with_agent(), options).probes.front();
}

TEST(AgentCost, AClauseInTheThreadIsStubLaneAndActions) {
  const ProbePrediction probe = predicted_by(counting_way(true, false), false);
  EXPECT_DOUBLE_EQ(probe.firing.expected.clocks, 4 + 3 + 2);
  EXPECT_DOUBLE_EQ(probe.firing.cheapest.clocks, 4 + 3 + 2);
  EXPECT_DOUBLE_EQ(probe.firing.expected.spread, 0.5 + 0.25);
  ASSERT_TRUE(probe.agent);
  EXPECT_DOUBLE_EQ(probe.agent->thread.clocks, 9);
  EXPECT_DOUBLE_EQ(probe.agent->dvm.clocks, 0);
}

TEST(AgentCost, AClauseThatTakesNoLaneOnlyFindsIt) {
  AgentWay way = counting_way(true, false);
  way.takes_lane = false;
  EXPECT_DOUBLE_EQ(predicted_by(way, false).firing.expected.clocks, 4 + 1 + 2);
}

TEST(AgentCost, AGateIsEvaluatedOnceMoreBehindItself) {
  constexpr double kGate = 0.5 + 4 * 0.25;
  const ProbePrediction probe = predicted_by(counting_way(true, true), true, 0.25);
  EXPECT_DOUBLE_EQ(probe.firing.cheapest.clocks, 4 + kGate);
  EXPECT_DOUBLE_EQ(probe.firing.expected.clocks, 4 + kGate + 0.25 * (3 + kGate + 2));
  EXPECT_DOUBLE_EQ(probe.firing.dearest.clocks, 4 + kGate + 3 + kGate + 2);
}

TEST(AgentCost, ARecordHasAPartInDvm) {
  AgentWay way = counting_way(false, false);
  way.record_bytes = 64;
  const ProbePrediction probe = predicted_by(way, false);
  ASSERT_TRUE(probe.agent);
  EXPECT_DOUBLE_EQ(probe.agent->thread.clocks, 4 + 3 + 9);
  EXPECT_DOUBLE_EQ(probe.agent->dvm.clocks, 40 + 0.5 * 64 + 6 + 11);
  EXPECT_DOUBLE_EQ(probe.ring_bytes, 64);
  EXPECT_DOUBLE_EQ(probe.firing.expected.clocks, probe.agent->thread.clocks + probe.agent->dvm.clocks);
}

// Of two clauses on the probe, the second has a predicate that holds in a quarter of the firings.
TEST(AgentCost, AClauseWithARecordOfItsOwnHasAPartInDvm) {
  AgentWay way = counting_way(true, false);
  SiteUses uses;
  uses.predicate = {{"agent/site/expression"_row, 4}};
  uses.record = LeftRecord{.bytes = 64, .needs = {}};
  way.clauses.push_back(uses);
  PredictOptions options;
  options.probability = 0.25;
  options.agent = {{text_of(kFunction), way}};
  const ProbePrediction probe =
      predicted({on(kFunction, {counting()}), on(kFunction, {counting()}, true)}, with_agent(), options).probes.front();
  ASSERT_TRUE(probe.agent);
  EXPECT_DOUBLE_EQ(probe.agent->thread.clocks, 4 + 3 + 2 + (0.5 + 4 * 0.25) + 0.25 * 9);
  EXPECT_DOUBLE_EQ(probe.agent->dvm.clocks, 0.25 * (40 + 0.5 * 64 + 6 + 11));
  EXPECT_DOUBLE_EQ(probe.ring_bytes, 0.25 * 64);
  EXPECT_DOUBLE_EQ(probe.firing.expected.clocks, probe.agent->thread.clocks + probe.agent->dvm.clocks);
  EXPECT_DOUBLE_EQ(probe.clauses[1].cost.actions.expected.clocks, 9 + 40 + 0.5 * 64 + 6 + 11);
}

TEST(AgentCost, TheCodeOfAllSitesAndFarStringsCostMore) {
  AgentWay way = counting_way(true, false);
  way.is_common = true;
  way.clauses[0].strings = 2;
  const ProbePrediction probe = predicted_by(way, false);
  EXPECT_DOUBLE_EQ(probe.firing.expected.clocks, 4 + 20 + 3 + 2);
  EXPECT_DOUBLE_EQ(probe.firing.dearest.clocks, 4 + 20 + 3 + 2 + 2 * 900);
}

// A quarter of the string keys is there.
TEST(AgentCost, StringsOnTheHeapAreLoadedUnlessTheProcessForbids) {
  AgentWay way = counting_way(true, false);
  way.clauses[0].strings = 2, way.clauses[0].copied = 0.5;
  EXPECT_DOUBLE_EQ(predicted_by(way, false).firing.expected.clocks, 4 + 3 + 2 + 0.5 * 30);
  EXPECT_DOUBLE_EQ(predicted_by(way, false).firing.dearest.clocks, 4 + 3 + 2 + 2 * 900);
  way.by_calls = "it executes code that is not mapped from a file";
  EXPECT_DOUBLE_EQ(predicted_by(way, false).firing.expected.clocks, 4 + 3 + 2 + 0.5 * 900);
}

TEST(AgentCost, RecordsLoadTheHeap) {
  const vm::Profile profile = with_agent();
  Prices agent(profile, {.expected = 8}, kInAgent), dvm(profile);
  CaptureNeeds needs;
  needs.memory = {{.base = {}, .is_string = true, .size = 256}, {.base = {}, .size = 64}};
  const double called = 600 + 2 * 8 + 500 + 64, loaded = 20 + 0.5 * 8 + 10 + 0.25 * 64;
  EXPECT_DOUBLE_EQ(capture_cost(agent, dvm, needs).thread.clocks, called);
  EXPECT_DOUBLE_EQ(capture_cost(agent, dvm, needs).cheapest.clocks, called);
  agent.loaded = 0.25;
  const CaptureCost cost = capture_cost(agent, dvm, needs);
  EXPECT_DOUBLE_EQ(cost.thread.clocks, 0.75 * called + 0.25 * loaded);
  EXPECT_DOUBLE_EQ(cost.cheapest.clocks, loaded);
  EXPECT_DOUBLE_EQ(cost.dearest.clocks, called);
}

TEST(AgentCost, AStringThatCannotBeReadLeavesARecord) {
  AgentWay way = counting_way(true, false);
  way.clauses[0].strings = 1;
  way.clauses[0].fault_bytes = 64;
  std::vector<EcbCost> clauses = {{false, 1, {}, always({11, 0}), 0.25}};
  const vm::Profile profile = with_agent();
  Prices agent(profile, {}, kInAgent), dvm(profile);
  const vm::Cost prepared[] = {{6, 0}};
  const AgentCost cost = cost_at_site(agent, dvm, way, clauses, prepared);
  EXPECT_DOUBLE_EQ(cost.thread.expected.clocks, 4 + 3 + 2 + 0.25 * 700);
  EXPECT_DOUBLE_EQ(cost.dvm.expected.clocks, 0.25 * (40 + 0.5 * 64 + 6 + 11));
  EXPECT_DOUBLE_EQ(cost.thread.dearest.clocks, 4 + 3 + 2 + 900 + 700);
  EXPECT_DOUBLE_EQ(cost.dvm.dearest.clocks, 40 + 0.5 * 64 + 6 + 11);
  clauses[0].error = {8, 0}, clauses[0].actions.expected.clocks += 0.25 * 8;
  const double errors = cost_at_site(agent, dvm, way, clauses, prepared).dvm.expected.clocks - cost.dvm.expected.clocks;
  EXPECT_DOUBLE_EQ(errors, 0.25 * 8);
}

TEST(AgentCost, AnUpdateWithoutRoomIsARecord) {
  AgentWay way = counting_way(true, false);
  way.clauses[0].updates = {.count = 2, .entry_bytes = 64, .record_bytes = 80, .share = 0.75};
  const ProbePrediction probe = predicted_by(way, false, 1, 1000);
  ASSERT_TRUE(probe.agent);
  EXPECT_DOUBLE_EQ(probe.agent->thread.clocks, 4 + 3 + 2 + 0.75 * 2 * 25);
  EXPECT_DOUBLE_EQ(probe.agent->dvm.clocks, 0.75 * 2 * (40 + 0.5 * 40 + 200));
  EXPECT_DOUBLE_EQ(probe.ring_bytes, 0.75 * 80);
}

TEST(AgentCost, FramesThatWereEnteredHaveAPriceOfTheirOwn) {
  const vm::Profile profile = with_agent();
  Prices agent(profile, {.frames = 10}, kInAgent), dvm(profile, {.frames = 10});
  CaptureNeeds needs;
  needs.frames = 20;
  EXPECT_DOUBLE_EQ(capture_cost(agent, dvm, needs).thread.clocks, 10 * 5);
  agent.entered = 4;
  EXPECT_DOUBLE_EQ(capture_cost(agent, dvm, needs).thread.clocks, 6 * 5 + 4 * 2);
  agent.entered = 40;
  EXPECT_DOUBLE_EQ(capture_cost(agent, dvm, needs).thread.clocks, 10 * 2);
}

TEST(AgentCost, ProbesThatItDoesNotTakeTrap) {
  AgentWay way = counting_way(true, false);
  way.share = 0.75;
  const ProbePrediction probe = predicted_by(way, false);
  EXPECT_DOUBLE_EQ(probe.firing.expected.clocks, 0.75 * (4 + 3 + 2) + 0.25 * (1000 + 6 + 11));
  EXPECT_EQ(probe.firing.dearest.clocks, 1000 + 6 + 11);
  way.share = 0;
  EXPECT_FALSE(predicted_by(way, false).agent);
}

TEST(AgentCost, AllOfItIsTheUsersTime) {
  PredictOptions options;
  options.agent = {{text_of(kFunction), counting_way(true, false)}};
  options.rates = {{text_of(kFunction), 1000}};
  const Total total = predicted({on(kFunction, {counting()})}, with_agent(), options).total;
  EXPECT_DOUBLE_EQ(total.probes_user.clocks, 1000 * 9);
  EXPECT_DOUBLE_EQ(total.probes_system.clocks, 0);
}

TEST(AgentCost, ARowWithoutAPriceIsNamed) {
  vm::Profile profile;
  profile.clock_hz = 1e9;
  PredictOptions options;
  options.agent = {{text_of(kFunction), counting_way(true, false)}};
  const auto missing = predicted({on(kFunction, {counting()})}, profile, options).missing;
  for (const char* row : {"agent/stub/entry", "agent/lane/find", "agent/lane/take", "agent/aggregation/count"})
    EXPECT_TRUE(missing.contains(row)) << row;
}

}  // namespace
}  // namespace dvm::runtime::test
