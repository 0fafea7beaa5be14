// The counts of a run, and the rows that ticks and bytes belong to.

#include "dvm/vm/cost.h"

#include <gtest/gtest.h>

#include "dvm/vm/engine.h"
#include "tests/conformance/counted.h"
#include "tests/conformance/mock_host.h"
#include "tests/conformance/run_case.h"
#include "tests/unit/vm/assembled.h"

namespace dvm::vm {

namespace {

class CostTest : public testing::Test {
 protected:
  test::Counted prepare(std::string_view text, CostPolicy policy) {
    return test::Counted(prepare_interp(std::get<VerifiedDifo>(verify(dif::test::assembled(text))), policy));
  }
  void run(test::Counted& difo, uint64_t arg0) {
    firing_.args[0] = arg0;
    state_.begin_firing(firing_, host_);
    difo.run(state_);
  }
  static Counts taken(test::Counted& difo) {
    Counts counts;
    difo.take_counts(counts);
    return counts;
  }
  static const Tally& tally(const Counts& counts, const char* name) { return *test::find_tally(counts, name); }

  Firing firing_;
  test::MockHost host_;
  VariableState variables_{{}, StateLimits{}};
  MachineState state_{variables_, StateLimits{}};
};

// 10 / arg0 in one branch, so that runs can fault, and a block that both paths reach.
constexpr const char* kBranches =
    "ldgs arg0, %r1\nsetx 5, %r2\ncmp %r1, %r2\nbg large\nsdiv %r2, %r1, %r3\nxor %r3, %r3, %r3\nba end\nlarge: nop\nend: not "
    "%r2, %r4\n"
    "ret %r4\n";

TEST_F(CostTest, BlocksAreCountedOverRunsBranchesAndFaults) {
  for (const CostPolicy policy : {CostPolicy::blocks, CostPolicy::time}) {
    auto difo = prepare(kBranches, policy);
    for (const uint64_t arg0 : {1, 9, 0, 9, 2, 9}) run(difo, arg0);
    const Counts counts = taken(difo);
    EXPECT_EQ(tally(counts, "ldgs").count, 6u);
    EXPECT_EQ(tally(counts, "arg0").count, 6u);
    EXPECT_EQ(tally(counts, "bg").count, 6u);
    EXPECT_EQ(tally(counts, "nop").count, 3u);
    EXPECT_EQ(tally(counts, "sdiv").count, 3u);  // the faulting one was executed
    EXPECT_EQ(tally(counts, "xor").count, 2u);
    EXPECT_EQ(tally(counts, "ba").count, 2u);
    EXPECT_EQ(tally(counts, "not").count, 5u);
    EXPECT_EQ(tally(counts, "ret").count, 5u);
  }
}

TEST_F(CostTest, BranchesAreCountedByTheirWays) {
  constexpr const char* kThree =
      "ldgs arg0, %r1\nsetx 5, %r2\ncmp %r1, %r2\nbg end\nbe end\nba last\nend: cmp %r1, %r2\nbe last\nsdiv %r2, %r0, %r1\n"
      "last: ret %r1\n";
  for (const CostPolicy policy : {CostPolicy::blocks, CostPolicy::time}) {
    auto difo = prepare(kThree, policy);
    for (const uint64_t arg0 : {1, 5, 5, 5, 9, 9}) run(difo, arg0);  // 9 faults
    Counts counts;
    InstructionCounts instructions;
    difo.take_counts(counts, instructions);
    ASSERT_EQ(instructions.size(), 10u);
    EXPECT_EQ(instructions[3], (InstructionCount{6, 2}));
    EXPECT_EQ(instructions[4], (InstructionCount{4, 3}));
    EXPECT_EQ(instructions[5], (InstructionCount{1, 0}));  // ba is no choice
    EXPECT_EQ(instructions[7], (InstructionCount{5, 3}));
    run(difo, 9);
    difo.take_counts(counts, instructions);
    EXPECT_EQ(instructions[3], (InstructionCount{7, 3}));
    EXPECT_EQ(instructions[4], (InstructionCount{4, 3}));
  }
}

TEST_F(CostTest, ABuiltInVariableAloneIsReadToItsEnd) {
  auto difo = prepare("ldgs arg0, %r1\nret %r1\n", CostPolicy::blocks);
  run(difo, 1), run(difo, 2);
  Counts counts;
  InstructionCounts instructions;
  difo.take_counts(counts, instructions);
  EXPECT_EQ(instructions, (InstructionCounts{{2, 0, 0}, {2, 0, 0}}));
}

TEST_F(CostTest, EachInstructionHasWhatItMoved) {
  for (const CostPolicy policy : {CostPolicy::blocks, CostPolicy::time}) {
    auto difo = prepare("sets \"abcd\", %r1\npushtr string, %r0, %r1\ncall strlen, %r3\nret %r3\n", policy);
    run(difo, 1), run(difo, 1);
    Counts counts;
    InstructionCounts instructions;
    difo.take_counts(counts, instructions);
    EXPECT_EQ(instructions, (InstructionCounts{{2, 0, 0}, {2, 0, 8}, {2, 0, 8}, {2, 0, 0}}));
  }
}

// The variable is what arg0 was in the run before.
TEST_F(CostTest, OfVariablesItIsCountedHowManyAreThereAndHowManyComeOrGo) {
  for (const std::string kind : {"scl tls", "arr glb", "arr tls"}) {
    const bool is_scalar = kind == "scl tls";
    const std::string load = is_scalar ? "ldts" : kind == "arr glb" ? "ldgaa" : "ldtaa", store = "st" + load.substr(2);
    const std::string text = "v 500 " + kind + " r/w int64\nldgs arg0, %r1\n" +
                             (is_scalar ? "" : "pushtv %r1\nflushts\npushtv %r0\n") + load + " v, %r2\n" + store +
                             " %r1, v\nret %r2\n";
    const dif::Difo assembled = dif::test::assembled(text);
    VariableState variables(assembled.variables, StateLimits{});
    MachineState state(variables, StateLimits{});
    auto difo = prepare(text, CostPolicy::blocks);
    for (const uint64_t arg0 : {0, 5, 6, 0, 0, 7}) {  // stays away, comes, stays, goes, stays away, comes
      firing_.args[0] = arg0;
      state.begin_firing(firing_, host_);
      difo.run(state);
    }
    const Counts counts = taken(difo);
    EXPECT_EQ(tally(counts, load.c_str()).units, 2u) << kind;
    EXPECT_EQ(tally(counts, store.c_str()).units, 3u) << kind;
  }
}

TEST_F(CostTest, TakenCountsAreForgotten) {
  auto difo = prepare(kBranches, CostPolicy::blocks);
  run(difo, 1);
  taken(difo);
  EXPECT_EQ(tally(taken(difo), "ret").count, 0u);
  run(difo, 1);
  EXPECT_EQ(tally(taken(difo), "ret").count, 1u);
}

TEST_F(CostTest, WithoutAPolicyNothingIsCounted) {
  auto difo = prepare(kBranches, CostPolicy::none);
  run(difo, 1);
  EXPECT_EQ(tally(taken(difo), "ret").count, 0u);
}

TEST_F(CostTest, BytesBelongToWhatMovesThem) {
  constexpr const char* kText =
      "sets \"abcd\", %r1\nsets \"abce\", %r2\nscmp %r1, %r2\npushtr string, %r0, %r1\ncall strlen, %r3\nret %r3\n";
  for (const CostPolicy policy : {CostPolicy::blocks, CostPolicy::time}) {
    auto difo = prepare(kText, policy);
    run(difo, 0), run(difo, 0);
    const Counts counts = taken(difo);
    EXPECT_EQ(tally(counts, "scmp").units, 8u);  // of the left one
    EXPECT_EQ(tally(counts, "pushtr").units, 8u);
    EXPECT_EQ(tally(counts, "strlen").units, 8u);
    EXPECT_EQ(tally(counts, "call").units, 0u);
  }
}

TEST_F(CostTest, StringsAreCountedByWhereTheyLieAndKeysByWhatTheyAre) {
  firing_.execname = "sixsix";
  auto difo = prepare("v 500 arr glb r/w int64\nldgs execname, %r1\npushtv %r1\npushtr string, %r0, %r1\nldgaa v, %r2\nret %r2\n",
                      CostPolicy::blocks);
  run(difo, 1);
  run(difo, 1);
  const Counts counts = taken(difo);
  EXPECT_EQ(counts.strings[static_cast<size_t>(StringPlace::name)], 2u);
  EXPECT_EQ(counts.strings[static_cast<size_t>(StringPlace::literal)], 0u);
  EXPECT_EQ(counts.key_values, 2u);
  EXPECT_EQ(counts.key_references.count, 2u);
  EXPECT_EQ(counts.key_references.units, 2 * 6u);
}

TEST_F(CostTest, TicksBelongToWhatIsPriced) {
  std::string text = "ldgs arg0, %r1\n";
  for (int i = 0; i < 200; i++) text += "udiv %r1, %r1, %r2\n";
  auto difo = prepare(text + "call rand, %r3\nret %r3\n", CostPolicy::time);
  for (int i = 0; i < 200; i++) run(difo, 12345);
  const Counts counts = taken(difo);
  EXPECT_EQ(tally(counts, "udiv").timed, 40000u);
  EXPECT_GT(tally(counts, "udiv").ticks, 0u);
  EXPECT_EQ(tally(counts, "rand").timed, 200u);
  EXPECT_EQ(tally(counts, "arg0").timed, 200u);
  EXPECT_EQ(tally(counts, "call").timed, 0u);
  EXPECT_EQ(tally(counts, "call").count, 200u);
  EXPECT_EQ(tally(counts, "ldgs").ticks, 0u);
}

TEST_F(CostTest, CountsAddUp) {
  Counts a, b;
  a.opcodes[3] = {1, 2, 3, 4};
  b.opcodes[3] = {10, 20, 30, 40};
  b.subroutines[2].count = 5;
  b.variables[1].units = 6;
  a += b;
  EXPECT_EQ(a.opcodes[3].count, 11u);
  EXPECT_EQ(a.opcodes[3].timed, 22u);
  EXPECT_EQ(a.opcodes[3].ticks, 33u);
  EXPECT_EQ(a.opcodes[3].units, 44u);
  EXPECT_EQ(a.subroutines[2].count, 5u);
  EXPECT_EQ(a.variables[1].units, 6u);
}

TEST_F(CostTest, ReadingTheClockHasACost) { EXPECT_GE(calibrate_ticks(), 0); }

}  // namespace

}  // namespace dvm::vm
