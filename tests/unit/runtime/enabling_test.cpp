// Programs that cannot be enabled, and the layout of those that can.

#include "runtime/enabling/enabling.h"

#include <gtest/gtest.h>

#include "runtime/probe/prepare.h"
#include "tests/support/engine.h"
#include "tests/unit/runtime/session.h"

namespace dvm::runtime::test {
namespace {

using dif::Action;

class Fixture : public ::testing::Test {
 protected:
  Fixture() {
    probe_.id = 1;
    probe_.name = "BEGIN";
  }
  Status add(std::vector<dif::EcbDesc> clauses, std::vector<dif::AggregationDesc> aggregations = {}) {
    dif::Program program;
    program.clauses = std::move(clauses);
    program.aggregations = std::move(aggregations);
    auto all = [this](const dif::ProbeDesc&) { return std::vector<const Probe*>{&probe_}; };
    return enabling_.add(program, all, options_, vm::CostPolicy::none);
  }
  std::string error(std::vector<dif::EcbDesc> clauses, std::vector<dif::AggregationDesc> aggregations = {}) {
    Status status = add(std::move(clauses), std::move(aggregations));
    return status ? "" : status.error().message;
  }

  Probe probe_;
  dif::Options options_;
  Enabling enabling_;
};

TEST_F(Fixture, EpidsAndClausesCountAcrossPrograms) {
  ASSERT_TRUE(add({clause("BEGIN", {}), clause("BEGIN", {})}));
  ASSERT_TRUE(add({clause("BEGIN", {})}));
  ASSERT_EQ(enabling_.ecbs().size(), 3u);
  EXPECT_EQ(enabling_.ecb(3)->epid, 3u);
  EXPECT_EQ(enabling_.ecb(3)->plan->clause, 2u);
  EXPECT_EQ(enabling_.ecb(0), nullptr);
  EXPECT_EQ(enabling_.ecb(4), nullptr);
  EXPECT_EQ(enabling_.find(1)->ecbs.size(), 3u);
}

TEST_F(Fixture, ValuesLieAtTheirNaturalAlignment) {
  dif::DataType byte{dif::TypeKind::integer, true, true, 1, "char"};
  ASSERT_TRUE(add({clause("BEGIN", {print("%c%s%d%d", {constant(1, byte), text("t"), constant(2, kLong), constant(3)})})}));
  const Ecb& ecb = *enabling_.ecb(1);
  const std::vector<ValuePlan>& values = ecb.plan->actions[0].values;
  EXPECT_EQ(values[0].offset, 16u);
  EXPECT_EQ(values[1].offset, 17u);
  EXPECT_EQ(values[1].size, 257u);
  EXPECT_EQ(values[2].offset, 280u);
  EXPECT_EQ(values[3].offset, 288u);
  EXPECT_EQ(ecb.plan->record_size, 296u);
}

TEST_F(Fixture, WhatTheConsumerNeedNotSeeLeavesNoRecord) {
  ASSERT_TRUE(add({clause("BEGIN", {action(Action::expression, {constant(1)})}), clause("BEGIN", {}),
                   clause("BEGIN", {action(Action::expression, {constant(1)}), exit_with(0)})}));
  EXPECT_EQ(enabling_.ecb(1)->plan->record_size, 0u);
  EXPECT_EQ(enabling_.ecb(2)->plan->record_size, 16u);
  EXPECT_EQ(enabling_.ecb(3)->plan->record_size, 16u);
}

TEST_F(Fixture, UnverifiedDifNamesClauseAndInstruction) {
  dif::Difo bad = constant(1);
  bad.text[0] = dif::Instruction::indexed(dif::Opcode::setx, 7, 1);
  dif::EcbDesc desc = clause("BEGIN", {action(Action::trace, {bad})});
  desc.position = {"x.d", 12, 1};
  std::string message = error({clause("BEGIN", {}), desc});
  EXPECT_EQ(message.find("could not enable dt_clause_1 (x.d line 12): the verifier rejects its DIF: instruction 0: "), 0u)
      << message;
  EXPECT_TRUE(enabling_.ecbs().empty()) << "all or nothing";
}

TEST_F(Fixture, AggregationsMustFitTheirDeclaration) {
  auto count = [](unsigned keys, std::vector<dif::Difo> args) {
    return std::vector<dif::EcbDesc>{clause("BEGIN", {aggregate(Action::agg_count, 1, std::move(args), keys)})};
  };
  EXPECT_NE(error(count(0, {}), {}), "");
  EXPECT_NE(error(count(0, {}), {declare(1, Action::agg_sum)}), "");
  EXPECT_NE(error(count(1, {constant(1)}), {declare(1, Action::agg_count)}), "");
  EXPECT_NE(error(count(1, {constant(1, kLong)}), {declare(1, Action::agg_count, {kInt})}), "");
  EXPECT_NE(error(count(5, {constant(1)}), {declare(1, Action::agg_count, {kInt, kInt, kInt, kInt, kInt})}), "");
  EXPECT_NE(error(count(0, {constant(1)}), {declare(1, Action::agg_count)}), "");
  EXPECT_NE(error({}, {declare(1, Action::agg_lquantize, {}, {0, 10, 0})}), "");
  EXPECT_EQ(error(count(1, {constant(1)}), {declare(1, Action::agg_count, {kInt})}), "");
}

TEST_F(Fixture, AbsurdValuesAreRefused) {
  dif::DataType huge{dif::TypeKind::bytes, false, false, 0xffffffff, ""};
  dif::DataType odd{dif::TypeKind::integer, false, false, 3, ""};
  EXPECT_NE(error({clause("BEGIN", {action(Action::trace, {constant(1, huge)})})}), "");
  EXPECT_NE(error({clause("BEGIN", {action(Action::trace, {constant(1, odd)})})}), "");
}

TEST_F(Fixture, ActionsMustHaveWhatTheyNeed) {
  for (const Action kind : {Action::raise, Action::chill, Action::exit, Action::trace, Action::tracemem, Action::commit})
    EXPECT_NE(error({clause("BEGIN", {action(kind)})}), "");
  dif::ActDesc keyed = print("%d", {constant(1)});
  keyed.key_count = 12'000'000;
  EXPECT_EQ(error({clause("BEGIN", {keyed})}), "could not enable dt_clause_0: printf( ) has no keys");
  EXPECT_EQ(error({clause("BEGIN", {action(Action::stop)})}), "");
}

TEST(Going, AKeyMustFitTheAggregationBuffer) {
  Session session;
  session.set("aggsize", "1k");
  const dif::DataType large{dif::TypeKind::bytes, false, false, 4096, ""};
  EXPECT_EQ(session.start({clause("BEGIN", {aggregate(Action::agg_count, 1, {constant(1, large)}, 1)})},
                          {declare(1, Action::agg_count, {large})}),
            "Enabling exceeds size of buffer");
}

TEST(Going, DestructiveSubroutinesNeedTheOptionToo) {
  dif::Difo difo = constant(0);
  difo.text.insert(difo.text.begin() + 1, 3, dif::Instruction::registers(dif::Opcode::pushtv, 0, 0, 1));
  difo.text.insert(difo.text.begin() + 4, dif::Instruction::indexed(dif::Opcode::call, 13, 1));  // copyout
  for (const bool is_predicate : {false, true}) {
    Session session;
    dif::EcbDesc desc = clause("BEGIN", {});
    if (is_predicate)
      desc.predicate = dif::PredDesc{difo};
    else
      desc.actions = {action(Action::expression, {difo})};
    EXPECT_EQ(session.start({desc}), "Destructive actions not allowed");
  }
}

TEST(Going, DestructiveActionsNeedTheOption) {
  Session session;
  dif::EcbDesc desc = clause("BEGIN", {command("true")});
  EXPECT_EQ(session.start({desc}), "Destructive actions not allowed");
}

TEST(Going, ARecordMustFitTheBuffer) {
  Session session;
  session.set("bufsize", "32");
  EXPECT_EQ(session.start({clause("BEGIN", {print("%s", {text("x")})})}), "Enabling exceeds size of buffer");
}

TEST(Going, BadFormatsAreRefused) {
  Session session;
  EXPECT_EQ(session.start({clause("BEGIN", {print("%q", {text("x")})})}), "a format has no conversion '%q'");
}

TEST_F(Fixture, VariablesOfOneNumberAreApartByTheirScope) {
  dif::Program program;
  program.variables.resize(2);
  program.variables[0].id = program.variables[1].id = 500;
  program.variables[1].scope = dif::Scope::thread;
  const auto none = [](const dif::ProbeDesc&) { return std::vector<const Probe*>(); };
  for (int i = 0; i < 2; i++) ASSERT_TRUE(enabling_.add(program, none, options_, vm::CostPolicy::none));
  EXPECT_EQ(enabling_.variables().size(), 2u);
}

TEST_F(Fixture, ProgramsShareTheirAggregations) {
  const auto counting = [] { return std::vector{clause("BEGIN", {aggregate(Action::agg_count, 1, {constant(7, kLong)}, 1)})}; };
  const std::vector<dif::AggregationDesc> counts = {declare(1, Action::agg_count, {kLong})};
  ASSERT_TRUE(add(counting(), counts));
  ASSERT_TRUE(add(counting(), counts));
  EXPECT_EQ(enabling_.aggregations().size(), 1u);
  EXPECT_EQ(enabling_.largest_entry(), enabling_.largest_key() + sizeof(uint64_t));
}

TEST_F(Fixture, KeysOfAStackHaveItsType) {
  dif::ActDesc counting = aggregate(Action::agg_count, 1, {constant(2)}, 1);
  counting.args[0].made_by = Action::ustack;
  counting.args[0].frames = 2;
  ASSERT_TRUE(add({clause("BEGIN", {counting})}, {declare(1, Action::agg_count, {kLong})}));
  const dif::AggregationDesc& desc = enabling_.aggregation(1)->desc;
  EXPECT_EQ(desc.key_makers.at(0), Action::ustack);
  EXPECT_NE(desc.keys.at(0).kind, dif::TypeKind::integer);
}

TEST_F(Fixture, AProbeNeedsAMachineIfOneOfItsClausesDoes) {
  ASSERT_TRUE(add({clause("BEGIN", {print("%d", {constant(1)})}), clause("BEGIN", {})}));
  EXPECT_TRUE(enabling_.ecb(1)->plan->needs_machine);
  EXPECT_FALSE(enabling_.ecb(2)->plan->needs_machine);
  EXPECT_TRUE(enabling_.find(1)->needs_machine);
}

TEST_F(Fixture, OnlyTheEndOfDvmItselfOutlivesExit) {
  probe_.name = "END";
  probe_.site = UprobeSite{"a.out", 1, false, 1};
  ASSERT_TRUE(add({clause("END", {})}));
  EXPECT_FALSE(enabling_.find(1)->outlives_exit);
  probe_.id = 2, probe_.site = InternalSite{};
  ASSERT_TRUE(add({clause("END", {})}));
  EXPECT_TRUE(enabling_.find(2)->outlives_exit);
}

TEST_F(Fixture, MachineCodeTakesTheShorterWay) {
  DVM_SKIP_WITHOUT(vm::kEngines[1]);
  ASSERT_TRUE(add({clause("BEGIN", {aggregate(Action::agg_count, 1, {}, 0)})}, {declare(1, Action::agg_count)}));
  EXPECT_EQ(enabling_.find(1)->enter, nullptr);
  const auto find = [this](uint32_t id) { return enabling_.aggregation(id); };
  enabling_.replace_code(0, prepare_code(enabling_.plans()[0], find, vm::CostPolicy::none, vm::kEngines[1]));
  EXPECT_NE(enabling_.find(1)->enter, nullptr);
}

}  // namespace
}  // namespace dvm::runtime::test
