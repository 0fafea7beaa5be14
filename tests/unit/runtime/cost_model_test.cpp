// The model's equations against the paper's figures and sums worked out by hand.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/cost/model.h"
#include "runtime/cost/paper.h"
#include "runtime/cost/runs/firing_model.h"
#include "runtime/cost/runs/sample.h"
#include "runtime/cost/table_uses.h"
#include "tests/unit/runtime/priced_clauses.h"

namespace dvm::runtime::test {
namespace {

const dif::ProbeDesc kFunction{"pid1", "a.out", "f", "entry"};
const dif::ProbeDesc kBegin = own_probe("BEGIN"), kEnd = own_probe("END");

// The same prices, measured where the VM is the kernel's.
vm::Profile in_kernel(const vm::Profile& profile) {
  vm::Profile moved;
  moved.clock_hz = profile.clock_hz;
  for (const Row row : price_rows())
    if (const vm::Price* price = profile.find(row)) moved.set(row.in({EngineId::interp, BackendId::kernel}), *price);
  return moved;
}

TEST(CostModel, TheStagesOfThePaperAddUp) {
  const vm::Profile profile = pentium();
  Prices prices(profile);
  for (const auto& [source, total] :
       {std::pair("fbt", 3078), {"sdt", 2394}, {"syscall", 277}, {"pid", 2529}, {"usdt", 2381}, {"profile", 1086}})
    EXPECT_EQ(source_cost(prices, source).all.clocks, total) << source;
  EXPECT_TRUE(prices.missing().empty());
  EXPECT_EQ(source_cost(prices, "sched").all.clocks, 0);
  EXPECT_EQ(prices.missing(), std::set<std::string>{"source/sched"});
}

TEST(CostModel, TheConsumerOfThePaper) { EXPECT_EQ(fmt::format("{:.4f}", paper_consumer(pentium())), "0.0495"); }

// To the last digit that the paper prints.
TEST(CostModel, TheExperimentsOfThePaper) {
  const auto results = predict_experiments(pentium());
  ASSERT_TRUE(results) << results.error().message;
  const std::array<double, 6> firings = {2281, 5082, 8864, 11665, 4533, 3090};
  ASSERT_EQ(results->size(), firings.size());
  for (size_t i = 0; i < firings.size(); i++) {
    const ExperimentResult& result = (*results)[i];
    const Experiment& experiment = *result.experiment;
    EXPECT_EQ(result.firing, firings[i]) << experiment.name;
    EXPECT_EQ(fmt::format("{:.4f}", result.predicted), fmt::format("{:.4f}", experiment.published_prediction)) << experiment.name;
    EXPECT_EQ(fmt::format("{:.4f}", result.measured), fmt::format("{:.4f}", experiment.published_measurement)) << experiment.name;
  }
}

// Rows of the clause differ by engine where dvm runs it; a row that the engine does not have is the interpreter's.
TEST(CostModel, AnEngineHasPricesOfItsOwn) {
  constexpr Execution kNative = {EngineId::llvm}, kNativeInAgent = {EngineId::llvm, BackendId::agent};
  EXPECT_EQ("record/any"_row.in(kNative).text(), "llvm/record/any");
  EXPECT_EQ("record/any"_row.in(kNativeInAgent).text(), "agent/record/any");
  EXPECT_EQ("consumer/record"_row.in(kNative).text(), "consumer/record");
  vm::Profile profile;
  profile.set("key/any"_row, {10, 0, 0});
  profile.set("key/few"_row, {3, 0, 0});
  profile.set("key/any"_row.in(kNative), {4, 0, 0});
  Prices native(profile, {}, kNative);
  EXPECT_EQ(native.of("key/any"_row).clocks, 4);
  EXPECT_EQ(native.of("key/few"_row).clocks, 3);
  EXPECT_EQ(Prices(profile).of("key/any"_row).clocks, 10);
  EXPECT_EQ(native.of("key/some"_row).clocks, 0);
  EXPECT_EQ(native.missing(), std::set<std::string>{"llvm/key/some"});
}

// Machine code of a plain clause needs no machine state.
TEST(CostModel, AnEngineStartsTheMachineForClausesThatNeedIt) {
  vm::Profile profile;
  profile.set("prepare/dif"_row, {100, 0, 0});
  const auto prepared = [&profile](EngineId engine, dif::ActDesc action) {
    PredictOptions options;
    options.execution = Execution{engine};
    return predicted({on(kFunction, {std::move(action)})}, profile, options).probes.at(0).prepare.clocks;
  };
  const auto storing = [] {
    return doing(dif::Action::expression, "v 500 scl glb r/w int64\nldgs arg0, %r1\nstgs %r1, v\nret %r1\n");
  };
  EXPECT_EQ(prepared(EngineId::interp, tracing()), 100);
  EXPECT_EQ(prepared(EngineId::llvm, tracing()), 0);
  EXPECT_EQ(prepared(EngineId::interp, storing()), 100);
  EXPECT_EQ(prepared(EngineId::llvm, storing()), 0);
  EXPECT_EQ(prepared(EngineId::llvm, counting_by_stack()), 100);
}

// The gate of a plain predicate comes before all that. A predicate that is not plain is part of the body, which is entered.
TEST(CostModel, MachineCodeStartsNothingBehindAGateThatIsShut) {
  vm::Profile profile;
  profile.set("prepare/dif"_row, {100, 0, 0});
  profile.set("prepare/locals"_row, {20, 0, 0});
  profile.set("prepare/actions"_row, {8, 0, 0});
  PredictOptions options;
  options.probability = 0.25;
  const auto prepared = [&](EngineId engine, dif::EcbDesc clause) {
    options.execution = Execution{engine};
    return predicted({std::move(clause)}, profile, options).probes.at(0).prepare.clocks;
  };
  dif::EcbDesc gated = on(kFunction, {counting_by_stack()}, true), ungated = gated;
  ungated.predicate->difo = dif::test::assembled("v 500 scl glb r/w int64\nldgs v, %r1\nret %r1\n");
  EXPECT_EQ(prepared(EngineId::llvm, gated), 0.25 * (100 + 8));
  EXPECT_EQ(prepared(EngineId::llvm, ungated), 100 + 8);
  EXPECT_EQ(prepared(EngineId::interp, gated), 100 + 0.25 * 8);
}

// Those with DIF for the interpreter, those whose machine code is entered for LLVM.
TEST(CostModel, FurtherClausesHaveAPrice) {
  vm::Profile profile;
  profile.set("prepare/dif"_row, {100, 0, 0});
  profile.set("prepare/clause"_row, {7, 0, 0});
  profile.set("prepare/body"_row.in({EngineId::llvm}), {8, 0, 0});
  PredictOptions options;
  options.probability = 0.5;
  const auto prepared = [&](EngineId engine, size_t clauses, bool has_predicate) {
    options.execution = Execution{engine};
    return predicted(std::vector(clauses, on(kFunction, {tracing()}, has_predicate)), profile, options)
        .probes.at(0)
        .prepare.clocks;
  };
  EXPECT_EQ(prepared(EngineId::interp, 1, false), 100);
  EXPECT_EQ(prepared(EngineId::interp, 3, false), 100 + 2 * 7);
  EXPECT_EQ(prepared(EngineId::llvm, 3, false), 2 * 8);
  EXPECT_EQ(prepared(EngineId::llvm, 3, true), 0.5 * 8);
}

// The clause with the greater cost at its rate pays for loading LLVM; the other one follows when it has cost its own price.
TEST(CostModel, ClausesAreTranslatedWhenTheyHaveCostIt) {
  const auto clause = [](size_t number, double clocks) {
    ClausePrediction made;
    made.number = number, made.difos = 1;
    made.cost.actions.expected.clocks = clocks;
    return made;
  };
  Prediction prediction;
  prediction.probes.resize(2);
  prediction.probes[0].clauses = {clause(0, 1000), clause(1, 10)};
  prediction.probes[1].clauses = {clause(2, 0)};
  auto changes = engine_changes(prediction, 1e9);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_DOUBLE_EQ(changes[0].firings, (30e6 + 2 * 1.5e6) / 1000);
  EXPECT_FALSE(changes[0].seconds);
  prediction.probes[0].rate = 1e5;
  changes = engine_changes(prediction, 1e9);
  EXPECT_DOUBLE_EQ(changes[0].seconds.value(), 33e6 / (1000 * 1e5));
  EXPECT_DOUBLE_EQ(changes[1].seconds.value(), 3e6 / (10 * 1e5));
  EXPECT_DOUBLE_EQ(changes[1].firings, 3e5);
}

TEST(CostModel, AProfileThatLacksRowsIsToldSo) {
  vm::Profile empty;
  empty.clock_hz = 1e9;
  const auto results = predict_experiments(empty);
  ASSERT_FALSE(results);
  EXPECT_NE(results.error().message.find("aggregation/count"), std::string::npos);
}

TEST(CostModel, AFiringIsItsFlowAndItsEcbs) {
  const auto range = [](double cheapest, double expected, double dearest) {
    return vm::CostRange{{cheapest, 0}, {expected, 0}, {dearest, 0}};
  };
  const std::vector<EcbCost> ecbs = {{true, 0.25, range(1, 2, 3), range(10, 20, 40)}, {false, 1, {}, range(100, 110, 120)}};
  const vm::CostRange firing = firing_cost({1000, 0}, ecbs);
  EXPECT_EQ(firing.cheapest.clocks, 1000 + 1 + 100);
  EXPECT_EQ(firing.expected.clocks, 1000 + 2 + 0.25 * 20 + 110);
  EXPECT_EQ(firing.dearest.clocks, 1000 + 3 + 40 + 120);
}

TEST(CostModel, DvmLooksForFiringsAtItsPace) {
  EXPECT_NEAR(polls_a_second(0), 1 / 4.05e-3, 1e-6);
  EXPECT_NEAR(polls_a_second(200), 1 / 4.05e-3, 1e-6);  // 4 ms bring less than a poll wants
  EXPECT_NEAR(polls_a_second(500), 1 / 2.05e-3, 1e-6);  // 2 ms bring it
  EXPECT_NEAR(polls_a_second(1e5), 1 / 1.05e-3, 1e-6);
  EXPECT_NEAR(polls_a_second(0, kTimerSlack, kShortestWait), 1 / 1.05e-3, 1e-6);
  EXPECT_EQ(wait_after(1, 2e6, 2e6), 2e6);
  EXPECT_EQ(wait_after(0, 1e3, 0), kShortestWait);  // that nothing came in a microsecond says little
  EXPECT_EQ(wait_after(0, 1e6, 1e6), 2e6);
  EXPECT_EQ(wait_after(20, 1e6, 1e6), 0);
  EXPECT_DOUBLE_EQ(wanted_bytes(8 << 20), 65536);
  EXPECT_DOUBLE_EQ(wanted_bytes(16384), 1024);  // the ring must hold more, if the rate grows
}

TEST(CostModel, SharesAndRates) {
  EXPECT_DOUBLE_EQ(share_of_cpu(17e6, 1.7e9), 0.01);
  EXPECT_DOUBLE_EQ(rate_of_share(1700, 1.7e9, 0.01), 10000);
  EXPECT_DOUBLE_EQ(measured_share(30, 500, 20, 1000), 20);
}

TEST(Prediction, ClausesOfOneProbeShareItsFlow) {
  const dif::ProbeDesc probe_of_both{"pid$target", "a.out", "f", "entry"};
  dif::EcbDesc plain = on(probe_of_both, {counting()});
  plain.probes.push_back(kBegin);
  PredictOptions options;
  options.probability = 0.1;
  options.rates = {{"pid$target:a.out:f:entry", 50000}};
  const Prediction prediction = predicted({plain, on(probe_of_both, {counting()}, true)}, pentium(), options);
  ASSERT_EQ(prediction.probes.size(), 1u);
  const ProbePrediction& probe = prediction.probes[0];
  EXPECT_EQ(probe.source, "pid");
  EXPECT_EQ(probe.rate, 50000);
  const double flow = 2529 + 432 + 2 * 170, predicate = 46 + 28;
  EXPECT_DOUBLE_EQ(probe.firing.cheapest.clocks, flow + predicate + 1402);
  EXPECT_DOUBLE_EQ(probe.firing.expected.clocks, flow + predicate + 1402 + 140.2);
  EXPECT_DOUBLE_EQ(probe.firing.dearest.clocks, flow + predicate + 2804);
  EXPECT_EQ(prediction.record_rate, 0);
  EXPECT_TRUE(prediction.missing.empty()) << *prediction.missing.begin();
}

TEST(Prediction, StartedActionsAndTheFirstKeyOfAFiringHavePrices) {
  vm::Profile profile = pentium();
  dif::ActDesc keyed = counting();
  keyed.args = doing(dif::Action::trace, kArgument).args, keyed.key_count = 1;
  PredictOptions options;
  options.probability = 0.25;
  const auto prepared = [&](const std::vector<dif::EcbDesc>& clauses) {
    return predicted(clauses, profile, options).probes[0].prepare.clocks;
  };
  const std::vector<dif::EcbDesc> rarely = {on(kFunction, {keyed}, true), on(kFunction, {keyed}, true),
                                            on(kFunction, {counting()})},
                                  always = {on(kFunction, {keyed}), on(kFunction, {keyed}, true)};
  const double before = prepared(rarely), before_always = prepared(always);
  profile.set("prepare/actions"_row.in(execution_of(profile)), {7, 0, 0});
  profile.set("key/once"_row.in(execution_of(profile)), {100, 0, 0});
  EXPECT_DOUBLE_EQ(prepared(rarely) - before, 7 + 0.5 * 100);
  EXPECT_DOUBLE_EQ(prepared(always) - before_always, 7 + 100);
}

TEST(Prediction, ResettingClauseLocalVariablesHasAPrice) {
  vm::Profile profile = pentium();
  profile.set("prepare/locals"_row.in(execution_of(profile)), {3, 2, 0});
  dif::Program program;
  program.clauses = {on(kFunction, {doing(dif::Action::trace, kArgument)})};
  const auto prepared = [&] {
    const dif::Program* programs[] = {&program};
    return predict(programs, profile, {}).probes.at(0).prepare.clocks;
  };
  const double without = prepared();
  program.variables.resize(2);
  program.variables[0].scope = dif::Scope::clause;
  EXPECT_DOUBLE_EQ(prepared() - without, 3 + 2);
}

// Divides unless its branch, the second instruction, is taken.
constexpr const char* kTwoWays = "ldgs arg0, %r1\nbg end\nsdiv %r1, %r1, %r1\nend: ret %r1\n";

EcbAccount counted(const dif::EcbDesc& clause, uint64_t firings, uint64_t hits,
                   std::vector<vm::InstructionCount> second_of_each) {
  EcbAccount ecb;
  ecb.clause = clause.position;
  ecb.firings = firings, ecb.predicate_hits = hits;
  for (const vm::InstructionCount& count : second_of_each) ecb.instructions.push_back({{}, count, {}, {}});
  return ecb;
}

TEST(Prediction, WhatARunCountedIsExpectedOfEachDifoOfAClause) {
  dif::EcbDesc clause = on(kFunction, {counting(), doing(dif::Action::trace, kTwoWays), doing(dif::Action::trace, kTwoWays)});
  clause.predicate = dif::PredDesc{dif::test::assembled(kTwoWays)};
  const vm::Profile profile = pentium();
  PredictOptions options;
  const EcbCost unknown = predicted({clause}, profile, options).probes[0].clauses[0].cost;
  Account account;  // of two probes, with the same clause
  account.ecbs = {counted(clause, 100, 10, {{100, 100}, {10, 10}, {10, 0}}),
                  counted(clause, 300, 50, {{300, 0}, {50, 50}, {50, 15}})};
  options.measured = measured_clauses(account);
  const ClausePrediction measured = predicted({clause}, profile, options).probes[0].clauses[0];
  EXPECT_TRUE(measured.is_measured);
  EXPECT_DOUBLE_EQ(measured.cost.probability, 60 / 400.0);
  const double divided = profile.find("opcode/sdiv"_row)->m;
  EXPECT_NEAR(measured.cost.predicate.expected.clocks - unknown.predicate.expected.clocks, (0.75 - 0.5) * divided, 1e-9);
  EXPECT_NEAR(measured.cost.actions.expected.clocks - unknown.actions.expected.clocks, (0 + 0.75 - 2 * 0.5) * divided, 1e-9);
  EXPECT_EQ(measured.cost.actions.cheapest.clocks, unknown.actions.cheapest.clocks);
  EXPECT_EQ(measured.cost.actions.dearest.clocks, unknown.actions.dearest.clocks);
  const dif::EcbDesc other = on(kFunction, {doing(dif::Action::trace, kTwoWays)});
  EXPECT_FALSE(predicted({other}, profile, options).probes[0].clauses[0].is_measured);
}

TEST(Prediction, RecordsAreTheConsumersPart) {
  const std::vector<dif::EcbDesc> clauses = {on(system_call("read"), {tracing()})};
  PredictOptions options;
  options.rates = {{"syscall::read:entry", 1000}};
  vm::Profile profile = pentium();
  profile.set("consumer/record"_row, {500, 10, 0});
  profile.set("consumer/action"_row, {70, 0, 0});
  profile.set("consumer/value"_row, {30, 0, 0});
  const Prediction prediction = predicted(clauses, profile, options);
  EXPECT_DOUBLE_EQ(prediction.record_rate, 24 * 1000);
  const Prediction idle = predicted(clauses, profile, {});
  const double copied = profile.find("consumer/copy"_row)->n * 24 * 1000;
  EXPECT_NEAR(prediction.consumer.clocks - idle.consumer.clocks, 1000 * (500 + 70 + 30) + copied, 1);
}

TEST(Prediction, WhatTheConsumerDoesIsPricedByKeysFramesAndBytes) {
  vm::Profile profile;
  profile.clock_hz = 1e9;
  profile.set("consumer/printa"_row, {100, 10, 0});
  profile.set("consumer/ustack"_row, {20, 5, 0});
  profile.set("consumer/usym"_row, {3, 0, 0});
  profile.set("consumer/tracemem"_row, {7, 2, 0});
  profile.set("consumer/print"_row, {1, 4, 0});
  PredictOptions options;
  options.rates = {{"syscall::read:entry", 1000}};
  options.keys = 6;
  options.sizes.frames = 8;
  const auto clocks = [&](const dif::ActDesc& action) {
    return predicted({on(system_call("read"), {action})}, profile, options).printing.clocks / 1000;
  };
  dif::ActDesc printa = action(dif::Action::printa);
  printa.aggregations = {1};
  EXPECT_DOUBLE_EQ(clocks(printa), 100 + 6 * 10);
  dif::ActDesc stack = doing(dif::Action::ustack, kArgument);
  stack.args[0].made_by = dif::Action::ustack;
  EXPECT_DOUBLE_EQ(clocks(stack), 20 + 8 * 5);
  stack.args[0].frames = 3;
  EXPECT_DOUBLE_EQ(clocks(stack), 20 + 3 * 5);
  dif::ActDesc symbol = doing(dif::Action::printf, kArgument);
  symbol.args[0].made_by = dif::Action::usym;
  EXPECT_DOUBLE_EQ(clocks(symbol), 3);
  dif::DataType bytes;
  bytes.kind = dif::TypeKind::bytes, bytes.size = 16;
  EXPECT_DOUBLE_EQ(clocks(doing(dif::Action::tracemem, kArgument, bytes)), 7 + 16 * 2);
  EXPECT_DOUBLE_EQ(clocks(doing(dif::Action::print, kArgument, bytes)), 1 + 16 * 4);
  EXPECT_DOUBLE_EQ(clocks(doing(dif::Action::print, kArgument)), 1);
}

// A profile with the two stages that dvm's calibration measures: the thread's and its own.
TEST(Prediction, WhoseTimeItIs) {
  const std::vector<dif::EcbDesc> clauses = {on(kFunction, {counting()})};
  vm::Profile profile;
  profile.clock_hz = 1e9;
  profile.set("source/pid/trigger"_row, {1000, 0, 10});
  profile.set("source/pid/handler"_row, {20, 0, 1});
  profile.set("aggregation/count"_row, {5, 0, 0});
  profile.set("consumer/context_switch"_row, {100, 0, 0});
  profile.set("consumer/buffer_snapshot"_row, {7, 0, 0});
  PredictOptions options;
  options.rates = {{"pid1:a.out:f:entry", 100}};
  Total total = predicted(clauses, profile, options).total;
  EXPECT_DOUBLE_EQ(total.probes_system.clocks, 100 * 1000);
  EXPECT_DOUBLE_EQ(total.probes_user.clocks, 100 * 25);
  EXPECT_NEAR(total.consumer_system.clocks, 200 * (1 + polls_a_second(0)), 1e-6);
  EXPECT_NEAR(total.consumer_user.clocks, 7, 1e-6);
  EXPECT_DOUBLE_EQ(total.all().clocks, total.user().clocks + total.system().clocks);
  total = predicted(clauses, in_kernel(profile), options).total;
  EXPECT_DOUBLE_EQ(total.probes_user.clocks, 100 * 1025);
  EXPECT_DOUBLE_EQ(total.probes_system.clocks, 0);
  EXPECT_DOUBLE_EQ(total.consumer_system.clocks, 207);
}

// A firing behind a rest of its thread takes longer in it, as often as threads rest, but no more often than they fire.
TEST(Prediction, TheFirstFiringBehindARestTakesLonger) {
  vm::Profile profile;
  profile.clock_hz = 1e9;
  profile.set("rested/process"_row, {2000, 0, 500}), profile.set("rested/kernel"_row, {300});
  const auto waking = [&](double wakes, double kernel_rate = 0) {
    PredictOptions options;
    options.rates = {{text_of(kFunction), 10'000}, {text_of(system_call("read")), kernel_rate}};
    options.wakes = wakes;
    return predicted({on(kFunction, {counting()}), on(system_call("read"), {counting()})}, profile, options);
  };
  EXPECT_EQ(waking(0).waking.clocks, 0);
  EXPECT_EQ(waking(1000).waking.clocks, 1000 * 2000);
  EXPECT_EQ(waking(1000).waking.spread, 1000 * 500);
  EXPECT_EQ(waking(1000).total.probes_system.clocks, waking(0).total.probes_system.clocks + 1000 * 2000);
  EXPECT_EQ(waking(1e6).waking.clocks, 10'000 * 2000);
  EXPECT_EQ(waking(1000, 30'000).waking.clocks, 250 * 2000 + 750 * 300);
}

TEST(Prediction, FindingOneOfSeveralKeysTakesLonger) {
  vm::Profile profile;
  profile.clock_hz = 1e9;
  profile.set("source/pid/handler"_row, {20, 0, 0});
  profile.set("key/few"_row, {5, 0, 0});
  profile.set("key/some"_row, {5, 0, 0});
  profile.set("key/many"_row, {40, 0, 0});
  PredictOptions options;
  options.rates = {{"pid1:a.out:f:entry", 10'000}};
  options.keys = 50;
  const std::vector<dif::EcbDesc> counted = {on(kFunction, {counting_by_stack()})};
  Prediction found = predicted(counted, profile, options);
  EXPECT_NEAR(found.waiting.clocks, 10'000 * 5, 1e-6);
  EXPECT_NEAR(found.total.probes_user.clocks, 10'000 * 20 + found.waiting.clocks, 1e-6);
  options.keys = kMostKeys;
  EXPECT_NEAR(predicted(counted, profile, options).waiting.clocks, 10'000 * 40, 1e-3);
  EXPECT_EQ(predicted(counted, in_kernel(profile), options).waiting.clocks, 0);
}

vm::Profile with_captures() {
  vm::Profile profile;
  profile.clock_hz = 1e9;
  profile.set("source/pid/trigger"_row, {1000, 0, 0});
  profile.set("capture/stack"_row, {400, 30, 0});
  profile.set("capture/stack_bytes"_row, {100, 0.5, 0});
  profile.set("capture/unwind"_row, {200, 25, 0});
  profile.set("capture/kernel_stack"_row, {1800, 0, 0});
  profile.set("capture/argument"_row, {6, 0, 0});
  profile.set("capture/string"_row, {40, 0.25, 0});
  profile.set("action/ustack"_row, {50, 3, 0});
  return profile;
}

TEST(Prediction, AStackCostsItsFramesWhicheverWayTheyAreFound) {
  const std::vector<dif::EcbDesc> clauses = {on(kFunction, {counting_by_stack()})};
  const vm::Profile profile = with_captures();
  PredictOptions options;
  options.sizes.frames = 8;
  ProbePrediction probe = predicted(clauses, profile, options).probes[0];
  EXPECT_DOUBLE_EQ(probe.capture.clocks, 400 + 8 * 30);
  EXPECT_DOUBLE_EQ(probe.thread.clocks, 1000 + 400 + 8 * 30);
  EXPECT_DOUBLE_EQ(probe.firing.expected.clocks, 1000 + 640 + 50 + 8 * 3);
  options.sources["pid1:a.out:f:entry"] = {{"pid", 0.5, true}, {"pid", 0.5, false}};  // half of it without frame pointers
  probe = predicted(clauses, profile, options).probes[0];
  EXPECT_DOUBLE_EQ(probe.capture.clocks, (640 + 100 + 0.5 * kUsualStackBytes + 200 + 8 * 25) / 2);
  options.stack_bytes = 1024;  // wherever it is
  probe = predicted(clauses, profile, options).probes[0];
  EXPECT_DOUBLE_EQ(probe.capture.clocks, 100 + 512 + 400);
  EXPECT_DOUBLE_EQ(probe.thread.clocks, 1000 + 612);
}

TEST(Prediction, AKernelStackHasAPriceOfItsOwn) {
  dif::ActDesc counting = counting_by_stack();
  counting.args.front().made_by = dif::Action::stack;
  const std::vector<dif::EcbDesc> clauses = {on({"syscall", "", "write", "entry"}, {counting})};
  const ProbePrediction probe = predicted(clauses, with_captures(), {}).probes[0];
  EXPECT_DOUBLE_EQ(probe.capture.clocks, 1800);
  EXPECT_DOUBLE_EQ(probe.thread.clocks, 1800);
}

TEST(Prediction, AStackIsCopiedWhereAnyProcessMayFire) {
  const std::vector<dif::EcbDesc> clauses = {on({"syscall", "", "write", "entry"}, {counting_by_stack()})};
  PredictOptions options;
  options.sizes.frames = 8;
  const vm::Profile profile = with_captures();
  EXPECT_DOUBLE_EQ(predicted(clauses, profile, options).probes[0].capture.clocks, 100 + 0.5 * kUsualStackBytes + 200 + 8 * 25);
  const auto sampled = predicted({on({"profile", "", "", "profile-99"}, {counting_by_stack()})}, profile, options);
  EXPECT_DOUBLE_EQ(sampled.probes[0].capture.clocks, 100 + kUsualStackBytes + 200 + 8 * 25);
  options.stack_bytes = 0;
  EXPECT_DOUBLE_EQ(predicted(clauses, profile, options).probes[0].capture.clocks, 400 + 8 * 30);
}

TEST(Prediction, AProbeThatSharesATrapCostsWhatAProfileSaysOfThat) {
  vm::Profile profile;
  profile.clock_hz = 1e9;
  profile.set("source/pid/trigger"_row, {1000, 0, 0});
  profile.set("source/pid_return/trigger"_row, {1500, 0, 0});
  Prices prices(profile);
  EXPECT_EQ(source_cost(prices, "pid_return_shared").all.clocks, 1500);
  EXPECT_EQ(source_cost(prices, "pid_shared").all.clocks, 1000);
  profile.set("source/pid_return_shared/trigger"_row, {600, 0, 0});
  profile.set("source/pid_shared/capture"_row, {90, 0, 0});
  EXPECT_EQ(source_cost(prices, "pid_return_shared").all.clocks, 600);
  EXPECT_EQ(source_cost(prices, "pid_shared").all.clocks, 90);
}

TEST(Prediction, TimersFireAsOftenAsTheirNamesSay) {
  dif::EcbDesc clause;
  for (const char* name : {"profile-997", "profile-10ms", "tick-100ms", "tick-2min", "tick-4", "tick-", "profile-1ns", "tick-*"})
    clause.probes.push_back({"", "", "", name});
  clause.probes.push_back({"syscall", "", "read", "tick-1s"});
  clause.actions = {counting()};
  PredictOptions options;
  options.rates = {{":::tick-4", 5}};  // as it was given or counted
  of_program({clause}, [&](const auto& programs) { add_timer_rates(programs, 8, options); });
  EXPECT_EQ(options.rates.size(), 5u);
  EXPECT_NEAR(options.rates.at(":::profile-997"), 8 * 997, 0.01);
  EXPECT_DOUBLE_EQ(options.rates.at(":::profile-10ms"), 8 * 100);
  EXPECT_DOUBLE_EQ(options.rates.at(":::tick-100ms"), 10);
  EXPECT_DOUBLE_EQ(options.rates.at(":::tick-2min"), 1 / 120.0);
  EXPECT_EQ(options.rates.at(":::tick-4"), 5);
  const Prediction prediction = predicted({clause}, pentium(), options);
  ASSERT_EQ(prediction.probes.size(), clause.probes.size());
  EXPECT_TRUE(prediction.probes[2].is_rate_named);
  EXPECT_TRUE(prediction.probes[4].is_rate_known);
  EXPECT_FALSE(prediction.probes[4].is_rate_named);
  EXPECT_FALSE(prediction.probes[5].is_rate_known);
}

TEST(Prediction, SourcesByProvider) {
  const auto source = [](const char* provider) { return source_of({provider, "", "", ""}); };
  EXPECT_EQ(source("pid123"), "pid");
  EXPECT_EQ(source("pid$target"), "pid");
  EXPECT_EQ(source("python42"), "usdt");
  EXPECT_EQ(source("syscall"), "syscall");
}

}  // namespace
}  // namespace dvm::runtime::test
