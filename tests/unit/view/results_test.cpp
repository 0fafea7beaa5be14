#include "view/results.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <sstream>

namespace dvm::view {
namespace {

using testing::HasSubstr;

std::string aggregation(const std::string& description, const std::string& rows) {
  return R"({"type":"aggregation","aggregations":[)" + description + R"(],"rows":[)" + rows + "]}\n";
}
const std::string kEnd = "{\"type\":\"exit\",\"status\":0}\n";

Status add(Results& results, const std::string& text, const std::string& name = "a.json") {
  std::istringstream lines(text);
  return results.add(name, lines);
}

std::string message(const std::string& text) {
  Results results;
  const Status added = add(results, text);
  return added ? "" : added.error().message;
}

// The values of the only aggregation, after two runs with these rows.
std::vector<std::string> merged(const std::string& description, const std::string& first, const std::string& second) {
  Results results;
  EXPECT_TRUE(add(results, aggregation(description, first) + kEnd));
  EXPECT_TRUE(add(results, aggregation(description, second) + kEnd));
  std::vector<std::string> rows;
  for (const Results::KeyedRow& row : Results::rows(results.aggregations().front()))
    rows.push_back(row.keys.dump() + " " + runtime::json_of(results.aggregations().front(), row.row).dump());
  return rows;
}

TEST(Results, EachFunctionIsMergedAsOneRunWouldHaveDone) {
  const auto one = [](const char* function, const std::string& first, const std::string& second) {
    return merged(fmt::format(R"({{"name":"x","function":"{}","normal":1}})", function), R"({"keys":[],)" + first + "}",
                  R"({"keys":[],)" + second + "}");
  };
  EXPECT_EQ(one("count", R"("values":[3])", R"("values":[4])"), std::vector<std::string>{"[] 7"});
  EXPECT_EQ(one("sum", R"("values":[3])", R"("values":[-4])"), std::vector<std::string>{"[] -1"});
  EXPECT_EQ(one("min", R"("values":[3])", R"("values":[-4])"), std::vector<std::string>{"[] -4"});
  EXPECT_EQ(one("max", R"("values":[-3])", R"("values":[-4])"), std::vector<std::string>{"[] -3"});
  // 1 of 10 and 3 of 2 together: 16 / 4. The mean of both means is 6.
  EXPECT_EQ(one("avg", R"("values":[10],"states":[[[0,1],[1,10]]])", R"("values":[2],"states":[[[0,3],[1,6]]])"),
            std::vector<std::string>{"[] 4"});
  // 2 and 4, then 9: the variance of the three is (4 + 16 + 81) / 3 - 25.
  EXPECT_EQ(one("stddev", R"("values":[1],"states":[[[0,2],[1,6],[2,20]]])", R"("values":[0],"states":[[[0,1],[1,9],[2,81]]])"),
            std::vector<std::string>{"[] 2"});
  EXPECT_EQ(
      one("quantize", R"("values":[{"buckets":[{"min":4,"max":7,"count":2},{"min":null,"max":-4611686018427387904,"count":1}]}])",
          R"("values":[{"buckets":[{"min":4,"max":7,"count":5}]}])"),
      std::vector<std::string>{
          R"([] {"buckets":[{"min":null,"max":-4611686018427387904,"count":1},{"min":4,"max":7,"count":7}]})"});
}

// Time of the CPU to read a run with so many keys.
double seconds_for(size_t keys) {
  std::string rows;
  for (size_t i = 0; i < keys; i++) rows += fmt::format(R"({}{{"keys":[{}],"values":[1]}})", i > 0 ? "," : "", i);
  Results results;
  const std::clock_t begin = std::clock();
  EXPECT_TRUE(add(results, aggregation(R"({"name":"x","function":"count","normal":1})", rows) + kEnd));
  EXPECT_EQ(Results::rows(results.aggregations().front()).size(), keys);
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST(Results, EightTimesTheKeysTakeAboutEightTimesTheTime) {
  const double few = seconds_for(5000);
  EXPECT_LT(seconds_for(40000), 24 * few);
}

TEST(Results, DeepTextsAreNoResults) {
  const auto nested = [](size_t depth) {
    return R"({"type":"x","a":)" + std::string(depth, '[') + std::string(depth, ']') + "}\n";
  };
  EXPECT_THAT(message(nested(31)), HasSubstr("holds no aggregation"));
  EXPECT_THAT(message(nested(32)), HasSubstr("this is not a line of dvm run --json"));
  EXPECT_THAT(message(R"({"type":"x","a":"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"[["})"
                      "\n"),
              HasSubstr("holds no aggregation"));
}

TEST(Results, ParametersTellTheBuckets) {
  EXPECT_EQ(merged(R"({"name":"x","function":"lquantize","normal":1,"parameters":[0,50,7]})",
                   R"({"keys":[],"values":[{"buckets":[{"min":null,"max":-1,"count":1}]}]})",
                   R"({"keys":[],"values":[{"buckets":[{"min":7,"max":13,"count":2}]}]})"),
            std::vector<std::string>{R"([] {"buckets":[{"min":null,"max":-1,"count":1},{"min":7,"max":13,"count":2}]})"});
  EXPECT_THAT(message(aggregation(R"({"name":"x","function":"lquantize","normal":1,"parameters":[0,50,7]})",
                                  R"({"keys":[],"values":[{"buckets":[{"min":8,"max":13,"count":2}]}]})")),
              HasSubstr("a.json:1: the distribution has no bucket"));
}

TEST(Results, RowsAreOrderedByValueThenByKey) {
  EXPECT_EQ(
      merged(R"({"name":"x","function":"count","normal":1})", R"({"keys":["b",10],"values":[1]},{"keys":["b",9],"values":[1]})",
             R"({"keys":["a",1],"values":[3]},{"keys":["b",9],"values":[1]})"),
      (std::vector<std::string>{"[\"b\",10] 1", "[\"b\",9] 2", "[\"a\",1] 3"}));
  EXPECT_EQ(
      merged(R"({"name":"x","function":"count","normal":1})", R"({"keys":["b"],"values":[1]})", R"({"keys":["a"],"values":[1]})"),
      (std::vector<std::string>{"[\"a\"] 1", "[\"b\"] 1"}));
}

TEST(Results, OneNameIsOneAggregation) {
  const std::string count = aggregation(R"({"name":"x","function":"count","normal":1})", "");
  EXPECT_THAT(message(count + aggregation(R"({"name":"x","function":"sum","normal":1})", "")), HasSubstr("@x is"));
  EXPECT_THAT(message(count + aggregation(R"({"name":"x","function":"count","normal":5})", "")), HasSubstr("@x is"));
}

TEST(Results, LossesAreKeptWithTheirRun) {
  Results results;
  const std::string text = R"({"type":"drop","kind":"principal","cpu":0,"count":5,"message":"5 drops on CPU 0"})";
  ASSERT_TRUE(add(results, text + "\n" + aggregation(R"({"name":"x","function":"count","normal":1})", ""), "b.json"));
  ASSERT_EQ(results.losses().size(), 1U);
  EXPECT_EQ(results.losses()[0]["run"], "b.json");
  EXPECT_EQ(results.unfinished(), std::vector<std::string>{"b.json"});
}

TEST(Results, WhatDoesNotFitIsSaidInWords) {
  Results results;
  ASSERT_TRUE(
      add(results, aggregation(R"({"name":"x","function":"lquantize","normal":1,"parameters":[-100,100,7]})", ""), "a.json"));
  const Status added = add(results, aggregation(R"({"name":"x","function":"sum","normal":3})", ""), "b.json");
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().message, "b.json:1: @x is sum(), normalized by 3 here and lquantize(-100, 100, 7) in a run before");
  EXPECT_EQ(message(""), "a.json is empty: this is not output of dvm run --json");
}

TEST(Results, WhatIsNoResultIsRefusedWithItsLine) {
  const std::string count = R"({"name":"x","function":"count","normal":1})";
  EXPECT_EQ(
      message("\x7f"
              "ELF\n"),
      "a.json:1: this is not a line of dvm run --json (-o FILE keeps its lines apart from the output of the traced program)");
  EXPECT_EQ(
      message("[]\n"),
      "a.json:1: this is not a line of dvm run --json (-o FILE keeps its lines apart from the output of the traced program)");
  EXPECT_EQ(
      message(kEnd + "{\"type\":3}\n"),
      "a.json:2: this is not a line of dvm run --json (-o FILE keeps its lines apart from the output of the traced program)");
  EXPECT_THAT(message("{\"type\":\"exit\",\"a\":" + std::string(1'000'000, '[')), HasSubstr("this is not a line"));
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_THAT(message("{\"type\":\"exit\",\"a\":" + deep + "}"), HasSubstr("this is not a line"));
  EXPECT_THAT(message(kEnd), HasSubstr("a.json holds no aggregation"));
  EXPECT_EQ(message("{\"type\":\"aggregation\"}\n"), "a.json:1: an aggregation has no aggregations or no rows");
  EXPECT_EQ(message(aggregation("7", "")), "a.json:1: an aggregation is not {name, function, normal}");
  EXPECT_EQ(message(aggregation(R"({"name":"x","function":"mode","normal":1})", "")),
            "a.json:1: there is no aggregating function mode()");
  EXPECT_EQ(message(aggregation(R"({"name":"x","function":"lquantize","normal":1,"parameters":[5]})", "")),
            "a.json:1: the parameters of @x are invalid");
  EXPECT_EQ(message(aggregation(R"({"name":"x","function":"lquantize","normal":1,"parameters":["a"]})", "")),
            "a.json:1: a parameter of lquantize() is not an integer");
  EXPECT_EQ(message(aggregation(count, "3")), "a.json:1: a row is not {keys, values}");
  EXPECT_EQ(message(aggregation(count, R"({"keys":[],"values":[]})")), "a.json:1: a row is not {keys, values}");
  EXPECT_EQ(message(aggregation(count, R"({"keys":[],"values":["x"]})")), "a.json:1: a value is not an integer");
  EXPECT_THAT(message(aggregation(R"({"name":"x","function":"avg","normal":1})", R"({"keys":[],"values":[3]})")),
              HasSubstr("the rows of @x have no states, which avg() needs"));
  EXPECT_EQ(message(aggregation(R"({"name":"x","function":"avg","normal":1})", R"({"keys":[],"values":[3],"states":[[[2,1]]]})")),
            "a.json:1: a state has no word 2");
  EXPECT_EQ(message(aggregation(R"({"name":"x","function":"avg","normal":1})", R"({"keys":[],"values":[3],"states":[[7]]})")),
            "a.json:1: a state is not a list of [index, word]");
}

}  // namespace
}  // namespace dvm::view
