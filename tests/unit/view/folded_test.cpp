#include "view/folded.h"

#include <gtest/gtest.h>

#include <sstream>

namespace dvm::view {
namespace {

Results read(const std::string& rows, const std::string& function = "count", const std::string& more = "") {
  std::istringstream lines(R"({"type":"aggregation","aggregations":[{"name":"x","function":")" + function +
                           R"(","normal":1}],"rows":[)" + rows + "]}\n" + more);
  Results results;
  const Status added = results.add("run", lines);
  EXPECT_TRUE(added) << added.error().message;
  return results;
}

const std::string kUser = R"({"frames":[{"pid":7,"address":"0x10","module":"a","function":"leaf","offset":0},)"
                          R"({"pid":7,"address":"0x20","module":"a"},{"pid":7,"address":"0x30"}]})";
const std::string kKernel = R"({"frames":[{"pid":0,"address":"0xff","module":"kernel","function":"read","offset":1}]})";

TEST(Folded, FramesBeginAtTheOutermost) {
  const auto stacks = fold(read(R"({"keys":[)" + kUser + R"(],"values":[5]})"), "x");
  EXPECT_EQ(folded_lines(stacks), "0x30;a`0x20;leaf 5\n");
}

TEST(Folded, OtherKeysAreOutsideAndTheKernelIsAboveTheProgram) {
  const auto stacks = fold(read(R"({"keys":[)" + kKernel + R"(,"redis; 1",42,)" + kUser + R"(],"values":[5]})"), "x");
  EXPECT_EQ(folded_lines(stacks), "redis_ 1;42;0x30;a`0x20;leaf;read 5\n");
}

TEST(Folded, StacksOfTheSameNamesAreOne) {
  std::string other = kUser;
  other.replace(other.find("0x10"), 4, "0x11");
  const auto stacks = fold(read(R"({"keys":[)" + kUser + R"(],"values":[5]},{"keys":[)" + other + R"(],"values":[2]})"), "x");
  EXPECT_EQ(folded_lines(stacks), "0x30;a`0x20;leaf 7\n");
}

TEST(Folded, ControlCharactersReachNoTerminal) {
  EXPECT_EQ(folded_lines({{{{"a\xc2\x9b"
                             "2J\x1b;b\xc3\xa4"}},
                           1}}),
            "a_2J__b\xc3\xa4 1\n");
}

TEST(Folded, StacksBelowZeroAreCounted) {
  EXPECT_EQ(left_out_text({{{}, 0}, {{}, 1}}, "n"), "");
  EXPECT_EQ(left_out_text({{{}, -1}, {{}, 1}}, "n"), "1 stack of @n is left out: the value is below 0");
  EXPECT_EQ(left_out_text({{{}, -1}, {{}, -2}}, "n"), "2 stacks of @n are left out: the value is below 0");
}

TEST(Folded, FramesWithoutAFunctionAreNamedByTheirModule) {
  const auto row = [](const std::string& address, const std::string& value) {
    return R"({"keys":[{"frames":[{"pid":7,"address":")" + address + R"(","module":"a.out","offset":4660}]}],"values":[)" +
           value + "]}";
  };
  const auto stacks = fold(read(row("0x55001234", "3") + "," + row("0x56ff1234", "4")), "x");
  EXPECT_EQ(folded_lines(stacks), "a.out+0x1234 7\n");
}

TEST(Folded, InlinedFunctionsLieOnTheFrameThatHasTheirCode) {
  const std::string frame =
      R"({"pid":7,"address":"0x10","function":"main","file":"m.c","line":7,)"
      R"("inlined":[{"function":"a","file":"a.h","line":3},{"function":"b"},"bad"]},{"pid":7,"address":"0x30","inlined":7})";
  const auto stacks = fold(read(R"({"keys":[{"frames":[)" + frame + R"(]}],"values":[5]})"), "x");
  EXPECT_EQ(folded_lines(stacks), "0x30;main;b;a 5\n");
  const std::vector<Frame> expected = {
      {"0x30"}, {"main", FrameKind::user, "m.c:7"}, {"b", FrameKind::inlined}, {"a", FrameKind::inlined, "a.h:3"}};
  EXPECT_EQ(stacks.at(0).frames, expected);
}

TEST(Folded, StacksOfOtherLinesAreOneLine) {
  const auto row = [](const char* line) {
    return std::string(R"({"keys":[{"frames":[{"pid":7,"function":"f","file":"a.c","line":)") + line + R"(}]}],"values":[2]})";
  };
  const auto stacks = fold(read(row("1") + "," + row("2")), "x");
  EXPECT_EQ(stacks.size(), 2U);
  EXPECT_EQ(folded_lines(stacks), "f 4\n");
}

TEST(Folded, WeightsThatAreNotAboveZeroAreLeftOut) {
  const std::string rows = R"({"keys":["a",{"frames":[]}],"values":[-5]},{"keys":["b",{"frames":[]}],"values":[0]},)"
                           R"({"keys":["c",{"frames":[]}],"values":[1]})";
  EXPECT_EQ(folded_lines(fold(read(rows, "sum"), "x")), "c 1\n");
}

TEST(Folded, ADistributionWeighsItsValues) {
  const auto stacks =
      fold(read(R"({"keys":[{"frames":[]}],"values":[{"buckets":[{"min":4,"max":7,"count":2},{"min":0,"max":0,"count":3}]}]})",
                "quantize"),
           "x");
  EXPECT_EQ(folded_lines(stacks), "[no stack] 5\n");
}

TEST(Folded, AWeightStaysWithinItsRange) {
  const auto stacks = fold(
      read(R"({"keys":[{"frames":[]}],"values":[9223372036854775807]},{"keys":[{"frames":[],"x":1}],"values":[5]})", "sum"), "x");
  EXPECT_EQ(folded_lines(stacks), "[no stack] 9223372036854775807\n");
}

TEST(Folded, OneOfSeveralMustBeNamed) {
  const std::string row = R"({"keys":[)" + kUser + R"(],"values":[5]})";
  const std::string more =
      R"({"type":"aggregation","aggregations":[{"name":"y","function":"sum","normal":1}],"rows":[)" + row + "]}\n";
  const Results results = read(row, "count", more);
  EXPECT_EQ(names_with_stacks(results), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(choose_stacks(results, "").error().message, "@x and @y both have stacks as keys: name one of them");
  EXPECT_EQ(*choose_stacks(results, "y"), "y");
  EXPECT_EQ(choose_stacks(results, "z").error().message, "there is no aggregation @z with a stack as a key");
  EXPECT_EQ(choose_stacks(read(R"({"keys":[1],"values":[5]})"), "").error().message, "no aggregation has a stack as a key");
}

}  // namespace
}  // namespace dvm::view
