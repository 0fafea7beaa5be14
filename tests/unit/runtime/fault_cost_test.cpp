// What faults cost: the record of the error, and the clauses on ERROR.

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/unit/runtime/priced_clauses.h"

namespace dvm::runtime::test {
namespace {

const dif::ProbeDesc kMayFault{"pid1", "a.out", "f", "entry"};

MeasuredClauses faulting(const dif::EcbDesc& clause, double faults, std::vector<vm::InstructionCounts> instructions = {}) {
  return {{position_of(clause.position), {100, 100, faults, std::move(instructions)}}};
}

TEST(Prediction, AFaultCostsTheClausesOfError) {
  vm::Profile profile;
  profile.set("record/error"_row, {50, 0, 0});
  profile.set("prepare/machine"_row, {10, 0, 0});
  profile.set("prepare/ecb"_row, {3, 0, 0});
  profile.set("aggregation/count"_row, {20, 0, 0});
  profile.set("consumer/record"_row, {1000, 0, 0});
  const dif::EcbDesc clause = on(kMayFault, {doing(dif::Action::expression, kArgument)});
  const dif::EcbDesc on_error = on(own_probe("ERROR"), {counting(), doing(dif::Action::trace, "ldgs uid, %r1\nret %r1\n")});
  PredictOptions options;
  options.rates = {{text_of(kMayFault), 1000}};
  options.measured = faulting(clause, 25);
  const Prediction alone = predicted({clause}, profile, options), both = predicted({clause, on_error}, profile, options);
  EXPECT_FALSE(alone.error);
  EXPECT_DOUBLE_EQ(alone.probes.at(0).firing.expected.clocks, 10 + 3 + 0.25 * 50);
  ASSERT_TRUE(both.error);
  EXPECT_DOUBLE_EQ(both.error->firing.expected.clocks, 50 + 10 + 3 + 20);
  EXPECT_DOUBLE_EQ(both.probes.at(0).firing.expected.clocks, 10 + 3 + 0.25 * (50 + 10 + 3 + 20));
  EXPECT_EQ(both.probes.size(), 1u);
  EXPECT_DOUBLE_EQ(both.error->rate, 250);
  EXPECT_DOUBLE_EQ(both.printing.clocks - alone.printing.clocks, 250 * 1000);
  EXPECT_TRUE(both.probes[0].needs.owner && !alone.probes[0].needs.owner);  // uid, where the fault is
}

// What the counts of a run say of the instructions behind the fault holds for what the action does.
TEST(Prediction, ActionsBehindAFaultCostNothing) {
  vm::Profile profile;
  profile.set("action/trace"_row, {10, 0, 0});
  profile.set("record/any"_row, {100, 0, 0});
  const dif::EcbDesc clause = on(kMayFault, {tracing(), tracing()});
  PredictOptions options;
  const auto actions = [&] { return predicted({clause}, profile, options).probes.at(0).clauses.at(0).cost.actions; };
  EXPECT_EQ(actions().expected.clocks, 120);
  options.measured = faulting(clause, 60, {{{100, 0, 0}, {90, 0, 0}}, {{90, 0, 0}, {40, 0, 0}}});
  EXPECT_DOUBLE_EQ(actions().expected.clocks, 0.9 * 10 + 0.4 * 10 + 0.4 * 100);
  EXPECT_EQ(actions().dearest.clocks, 120);
}

}  // namespace
}  // namespace dvm::runtime::test
