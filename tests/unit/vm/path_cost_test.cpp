// Prices of DIFOs, worked out by hand.

#include "dvm/vm/path_cost.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/vm/assembled.h"

namespace dvm::vm {
namespace {

class PathCost : public testing::Test {
 protected:
  PathCost() {
    set("variable/arg0", {46, 0, 3});
    set("opcode/setx", {31, 0, 1});
    set("opcode/cmp", {60, 0, 2});
    for (const char* branch : {"opcode/bg", "opcode/ba"}) set(branch, {37, 0, 1});
    set("opcode/sdiv", {127, 0, 4});
    set("opcode/ret", {28, 0, 0});
    set("opcode/nop", {1, 0, 0});
    set("subroutine/copyinstr", {1000, 2, 10});
    set("opcode/pushtv", {49, 0, 0});
  }
  void set(const std::string& row, const Price& price) { profile_.set(RowName::of_table(row), price); }
  CostRange price(std::string_view text, const InstructionCounts& branches = {}) {
    return price_difo(dif::test::assembled(text), profile_, {1, 10, 100}, missing_, branches);
  }

  Profile profile_;
  std::set<std::string> missing_;
};

TEST_F(PathCost, AStraightLineIsTheSumOfItsRows) {
  const CostRange cost = price("ldgs arg0, %r1\nsetx 5, %r2\ncmp %r1, %r2\nret %r2\n");
  EXPECT_EQ(cost.expected.clocks, 46 + 31 + 60 + 28);
  EXPECT_EQ(cost.cheapest.clocks, cost.dearest.clocks);
  EXPECT_EQ(cost.expected.spread, 3 + 1 + 2);
  EXPECT_TRUE(missing_.empty());
}

TEST_F(PathCost, OneLoadAloneNeedsNoDispatch) {
  set("opcode/ret_alone", {2, 0, 0}), set("opcode/ldgs", {5, 0, 0}), set("opcode/ldls", {6, 0, 0}), set("opcode/ldts", {9, 0, 0});
  EXPECT_EQ(price("ldgs arg0, %r1\nret %r1\n").expected.clocks, 46 + 2);
  EXPECT_EQ(price("v 500 scl glb r/w int64\nldgs v, %r1\nret %r1\n").expected.clocks, 5 + 2);
  EXPECT_EQ(price("v 500 scl loc r/w int64\nldls v, %r1\nret %r1\n").expected.clocks, 6 + 2);
  EXPECT_EQ(price("v 500 scl tls r/w int64\nldts v, %r1\nret %r1\n").expected.clocks, 9 + 28);
  EXPECT_EQ(price("ldgs arg0, %r1\nret %r0\n").expected.clocks, 46 + 28);
}

// Its branch is the second instruction.
constexpr const char* kTwoWays = "ldgs arg0, %r1\nbg far\nsdiv %r1, %r1, %r2\nba end\nfar: nop\nend: ret %r1\n";

TEST_F(PathCost, ABranchHasACheapAndADearWay) {
  const CostRange cost = price(kTwoWays);
  const double common = 46 + 37 + 28;
  EXPECT_EQ(cost.cheapest.clocks, common + 1);
  EXPECT_EQ(cost.dearest.clocks, common + 127 + 37);
  EXPECT_EQ(cost.expected.clocks, common + (1 + 127 + 37) / 2.0);
}

TEST_F(PathCost, ABranchThatWasCountedIsExpectedToBeTakenAsOften) {
  const double common = 46 + 37 + 28, near = 127 + 37, far = 1;
  const auto expected = [&](const InstructionCount& count) { return price(kTwoWays, {{}, count}).expected.clocks; };
  EXPECT_EQ(expected({8, 0}), common + near);
  EXPECT_EQ(expected({8, 8}), common + far);
  EXPECT_EQ(expected({8, 2}), common + 0.75 * near + 0.25 * far);
  EXPECT_EQ(expected({0, 0}), common + (near + far) / 2);  // never reached
  const CostRange known = price(kTwoWays, {{}, {8, 8}}), unknown = price(kTwoWays);
  EXPECT_EQ(known.cheapest.clocks, unknown.cheapest.clocks);
  EXPECT_EQ(known.dearest.clocks, unknown.dearest.clocks);
}

TEST_F(PathCost, WhatIsBehindABranchIsReachedAsOftenAsItsShare) {
  const char* text = "ldgs arg0, %r1\nbg end\nbg end\nsdiv %r1, %r1, %r2\nend: ret %r1\n";
  EXPECT_EQ(price(text, {{}, {8, 2}, {6, 3}}).expected.clocks, 46 + 37 + 0.75 * (37 + 0.5 * 127) + 28);
}

TEST_F(PathCost, WhatIsPricedBySizeHasThreeSizes) {
  const CostRange cost = price("ldgs arg0, %r1\npushtv %r1\ncall copyinstr, %r1\nret %r1\n");
  const double rest = 46 + 49 + 28;
  EXPECT_EQ(cost.cheapest.clocks, rest + 1002);
  EXPECT_EQ(cost.expected.clocks, rest + 1020);
  EXPECT_EQ(cost.dearest.clocks, rest + 1200);
}

TEST_F(PathCost, AVariableThatIsLookedUpIsExpectedToBeThereAndAStoreToFindOne) {
  set("opcode/ldts", {100, 10, 0});
  set("opcode/stts", {1000, 7, 0});
  const auto cost = [&](const InstructionCounts& counts) {
    return price("v 500 scl tls r/w int32\nldts v, %r1\nstts %r1, v\nret %r1\n", counts);
  };
  EXPECT_EQ(cost({}).cheapest.clocks, 100 + 1000 + 28);
  EXPECT_EQ(cost({}).expected.clocks, 110 + 1000 + 28);
  EXPECT_EQ(cost({}).dearest.clocks, 110 + 1007 + 28);
  const CostRange counted = cost({{8, 0, 2}, {8, 0, 4}});
  EXPECT_EQ(counted.expected.clocks, 100 + 10 / 4.0 + 1000 + 7 / 2.0 + 28);
  EXPECT_EQ(counted.cheapest.clocks, cost({}).cheapest.clocks);
  EXPECT_EQ(counted.dearest.clocks, cost({}).dearest.clocks);
}

TEST_F(PathCost, FindingAVariableMayCostLessThanFindingNone) {
  set("opcode/ldts", {100, -60, 0});
  const CostRange cost = price("v 500 scl tls r/w int32\nldts v, %r1\nret %r1\n");
  EXPECT_EQ(cost.cheapest.clocks, 40 + 28);
  EXPECT_EQ(cost.expected.clocks, 40 + 28);
  EXPECT_EQ(cost.dearest.clocks, 100 + 28);
}

TEST_F(PathCost, StringsAreAsLongAsARunHadThem) {
  set("opcode/ldgaa", {7, 0, 0});
  set("opcode/pushtr", {10, 1, 0});
  set("tuple/string", {1000, 3, 0});
  set("variable/execname", {3, 0, 0});
  set("string/name", {0, 0, 0});
  const char* text =
      "v 500 arr glb r/w int64\nldgs execname, %r1\npushtr string, %r0, %r1\npushtr string, %r0, %r1\nldgaa v, %r3\nret %r3\n";
  EXPECT_EQ(price(text).expected.clocks, 3 + 2 * (10 + 10) + 7 + 2 * (1000 + 3 * 10) + 28);
  EXPECT_EQ(price(text, {{4, 0, 0}, {4, 0, 24}, {4, 0, 8}, {4, 0, 4}, {4, 0, 0}}).expected.clocks,
            3 + (10 + 6) + (10 + 2) + 7 + 2 * 1000 + 3 * (6 + 2) + 28);
}

TEST_F(PathCost, AStoreByReferenceHasARowOfItsOwn) {
  set("opcode/stls", {57, 0, 0});
  set("opcode/stls_ref", {1500, 1, 0});
  const auto dearest = [&](const std::string& type) {
    return price("v 500 scl loc r/w " + type + "\nsetx 1, %r1\nstls %r1, v\nret %r1\n").dearest.clocks;
  };
  EXPECT_EQ(dearest("int32"), 31 + 57 + 28);
  EXPECT_EQ(dearest("string"), 31 + 1600 + 28);
}

TEST_F(PathCost, AStringIsPricedByWhereItLiesAndALiteralByItsLength) {
  set("opcode/sets", {1, 0, 0});
  set("opcode/pushtr", {10, 1, 0});
  set("opcode/flushts", {0, 0, 0});
  set("variable/execname", {3, 0, 0});
  set("string/name", {500, 0, 0});
  set("string/captured", {900, 0, 0});
  const CostRange literal = price("sets \"four\", %r1\npushtr string, %r0, %r1\nret %r0\n");
  EXPECT_EQ(literal.cheapest.clocks, 1 + 10 + 5 + 28);
  EXPECT_EQ(literal.dearest.clocks, 1 + 10 + 5 + 28);
  const CostRange name = price("ldgs execname, %r1\npushtr string, %r0, %r1\nret %r0\n");
  EXPECT_EQ(name.expected.clocks, 3 + 10 + 10 + 500 + 28);
  const char* copied = "ldgs arg0, %r1\npushtv %r1\ncall copyinstr, %r1\npushtr string, %r0, %r1\nret %r0\n";
  EXPECT_EQ(price(copied).expected.clocks, 46 + 49 + 1000 + 20 + 10 + 10 + 900 + 28);
  EXPECT_TRUE(missing_.empty());
}

TEST_F(PathCost, AVariableWithKeysIsPricedByEachOfThem) {
  set("opcode/ldgaa", {7, 0, 0});
  set("opcode/sets", {1, 0, 0});
  set("opcode/pushtr", {10, 0, 0});
  set("tuple/integer", {100, 0, 0});
  set("tuple/string", {1000, 3, 0});
  const CostRange cost = price(
      "v 500 arr glb r/w int64\nsetx 1, %r1\nsets \"abc\", %r2\npushtv %r1\npushtv %r1\npushtr string, %r0, %r2\n"
      "ldgaa v, %r3\nret %r3\n");
  EXPECT_EQ(cost.expected.clocks, 31 + 1 + 2 * 49 + 10 + 7 + 2 * 100 + 1000 + 3 * 4 + 28);
  EXPECT_TRUE(missing_.empty());
}

TEST_F(PathCost, WhatHasNoPriceIsNamed) {
  EXPECT_EQ(price("ldgs arg1, %r1\nxor %r1, %r1, %r1\nret %r1\n").expected.clocks, 28);
  EXPECT_EQ(missing_, (std::set<std::string>{"opcode/xor", "variable/arg1"}));
}

TEST(DifRows, AreThoseThatAScriptCanUse) {
  const std::vector<std::string> names = dif_rows();
  const auto has = [&](const char* name) { return std::count(names.begin(), names.end(), name) == 1; };
  EXPECT_TRUE(has("string/name") && has("tuple/string") && !has("string/literal"));
  EXPECT_TRUE(has("opcode/add") && has("opcode/stts_ref") && has("variable/arg0") && has("subroutine/strlen"));
  EXPECT_FALSE(has("opcode/xlate") || has("opcode/call") || has("variable/curthread") || has("subroutine/mutex_owned"));
}

}  // namespace
}  // namespace dvm::vm
