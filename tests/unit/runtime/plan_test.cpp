// The layout of plans. Plans as bytes: what is read is what was written, and nothing else is taken for a plan.

#include <gtest/gtest.h>

#include "runtime/plan/plan_file.h"
#include "tests/unit/runtime/programs.h"

namespace dvm::runtime::test {
namespace {

using dif::Action;

// Of every kind of value: predicate, record, keys, a stack of no given depth.
EcbPlan plan() {
  static const dif::AggregationDesc sums = declare(7, Action::agg_sum, {kInt, kString});
  dif::EcbDesc desc = clause("f", {print("%d %s", {constant(1, kLong), text("a")}),
                                   aggregate(Action::agg_sum, 7, {constant(1), text("key"), constant(5)}, 2),
                                   action(Action::ustack, {constant(0)}), action(Action::speculate, {constant(1)})});
  desc.predicate = dif::PredDesc{constant(1)};
  desc.actions[2].args[0].made_by = Action::ustack;
  desc.position = {"x.d", 3, 1};
  dif::Options options;
  EXPECT_TRUE(options.set("strsize", "40"));
  set_frames(desc, options);
  const auto find = [](uint32_t id) { return id == sums.id ? &sums : nullptr; };
  Result<EcbPlan> made = make_plan(5, std::move(desc), find, options);
  EXPECT_TRUE(made) << made.error().message;
  return *std::move(made);
}

void expect_same(const ValuePlan& a, const ValuePlan& b) {
  EXPECT_EQ(a.type.kind, b.type.kind);
  EXPECT_EQ(a.type.size, b.type.size);
  EXPECT_EQ(a.made_by, b.made_by);
  EXPECT_EQ(a.offset, b.offset);
  EXPECT_EQ(a.may_be_null, b.may_be_null);
  EXPECT_EQ(a.size, b.size);
}

std::string error_of(const std::string& bytes) {
  const Result<EcbPlan> read = plan_from_bytes(bytes);
  return read ? "" : read.error().message;
}

TEST(PlanFile, APlanIsReadAsItWasWritten) {
  const EcbPlan written = plan();
  const std::string bytes = to_bytes(written);
  const Result<EcbPlan> read = plan_from_bytes(bytes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_bytes(*read), bytes);
  EXPECT_EQ(read->clause, 5u);
  EXPECT_EQ(read->record_size, written.record_size);
  EXPECT_EQ(read->key_bytes, written.key_bytes);
  EXPECT_TRUE(read->speculates && read->needs_machine && read->predicate);
  EXPECT_EQ(read->difos.size(), written.difos.size());
  ASSERT_EQ(read->actions.size(), written.actions.size());
  for (size_t i = 0; i < written.actions.size(); i++) {
    const ActionPlan &a = read->actions[i], &b = written.actions[i];
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.key_count, b.key_count);
    EXPECT_EQ(a.aggregation, b.aggregation);
    EXPECT_EQ(a.desc, &read->desc.actions[i]);
    ASSERT_EQ(a.values.size(), b.values.size());
    for (size_t v = 0; v < a.values.size(); v++) expect_same(a.values[v], b.values[v]);
  }
}

TEST(Plan, ValuesLieAtTheirNaturalAlignment) {
  const EcbPlan made = plan();
  const std::vector<ValuePlan>& printed = made.actions[0].values;
  EXPECT_EQ(printed[0].offset, sizeof(RecordHeader));
  EXPECT_EQ(printed[1].offset, printed[0].offset + 8);  // a string of any length lies anywhere
  EXPECT_EQ(printed[1].size % 8, 1u);
  EXPECT_EQ(made.actions[2].values[0].offset, printed[1].offset + printed[1].size + 7);  // a stack is words
  EXPECT_EQ(made.record_size % 8, 0u);
}

TEST(Plan, ARecordHasALimit) {
  dif::Difo large = constant(1, kLong);
  large.result = {dif::TypeKind::bytes, false, false, 1 << 30, ""};
  const Result<EcbPlan> made = make_plan(0, clause("f", {action(Action::trace, {large})}), {}, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "its record would be too large");
}

TEST(PlanFile, APlanKeepsItsAddressesWhenItMoves) {
  const EcbPlan moved = plan();
  EXPECT_EQ(moved.actions[1].desc, &moved.desc.actions[1]);
}

TEST(PlanFile, OtherBytesAreNoPlan) {
  const std::string bytes = to_bytes(plan());
  for (size_t size = 0; size < bytes.size(); size++) EXPECT_NE(error_of(bytes.substr(0, size)), "") << size;
  for (size_t at = 0; at < bytes.size(); at++) {
    if (at >= 13 && at < 25) continue;  // the number of the clause and strsize may be others
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_NE(error_of(damaged), "") << at;
  }
}

TEST(PlanFile, DifThatTheVerifierRejectsIsNotRead) {
  EcbPlan bad = plan();
  bad.desc.predicate->difo.text[0] = dif::Instruction::indexed(dif::Opcode::setx, 7, 1);
  EXPECT_EQ(error_of(to_bytes(bad)).find("the verifier rejects its DIF: instruction 0: "), 0u);
}

TEST(PlanFile, AggregationsMustBeThere) {
  EcbPlan bad = plan();
  bad.aggregations.clear();
  EXPECT_EQ(error_of(to_bytes(bad)), "it names an aggregation that the program does not declare");
}

}  // namespace
}  // namespace dvm::runtime::test
