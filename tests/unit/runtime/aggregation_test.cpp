// Aggregations from the clause to the table: merging, sorting, printa(), clear(), trunc(), normalize().

#include <gtest/gtest.h>

#include "tests/unit/runtime/session.h"

namespace dvm::runtime::test {
namespace {

using dif::Action;

dif::ActDesc add(Action function, uint32_t id, const std::string& key, int64_t value) {
  return aggregate(function, id, {text(key), constant(value, kLong)}, 1);
}
dif::ActDesc sum(uint32_t id, const std::string& key, int64_t value) { return add(Action::agg_sum, id, key, value); }
dif::ActDesc printa(std::vector<uint32_t> ids, const std::string& format = "") {
  dif::ActDesc desc = on_aggregations(Action::printa, std::move(ids));
  desc.format = format;
  desc.has_format = !format.empty();
  return desc;
}
dif::AggregationDesc sums(uint32_t id) { return declare(id, Action::agg_sum, {kString}); }

// The rows that the end prints after the final newline: "key value" each.
std::string rows(const std::string& out) {
  std::string squeezed;
  for (char c : out) {
    bool after_blank = squeezed.empty() || squeezed.back() == ' ' || squeezed.back() == '\n';
    if (c != ' ' || !after_blank) squeezed += c;
  }
  return squeezed;
}

TEST(Aggregations, EndPrintsAllThatWasNotPrinted) {
  Session session;
  session.run(
      {clause("BEGIN", {sum(1, "b", 2), sum(1, "a", 1), sum(1, "b", 3), sum(2, "x", 9), printa({2}, "%s=%@d\n"), exit_with(0)})},
      {sums(1), sums(2)});
  EXPECT_EQ(session.out(), "x=9\n\n" + ("  a" + std::string(49, ' ')) + std::string(16, ' ') + "1\n" + "  b" +
                               std::string(49, ' ') + std::string(16, ' ') + "5\n");
}

TEST(Aggregations, ScalarFunctionsPrintTheirNumber) {
  std::vector<dif::ActDesc> actions;
  std::vector<dif::AggregationDesc> declared;
  uint32_t id = 1;
  for (Action function : {Action::agg_sum, Action::agg_min, Action::agg_max, Action::agg_avg, Action::agg_stddev}) {
    for (int64_t value : {-8, 2, 3}) actions.push_back(aggregate(function, id, {constant(value)}, 0));
    declared.push_back(declare(id++, function));
  }
  actions.push_back(exit_with(0));
  Session session;
  session.run({clause("BEGIN", actions)}, declared);
  EXPECT_EQ(rows(session.out()), "\n-3\n-8\n3\n-1\n4\n");  // stddev: root of (77/3 - 1) in integers
}

TEST(Aggregations, SortedByValueThenKey) {
  std::vector<dif::ActDesc> actions{sum(1, "c", 1), sum(1, "a", 2), sum(1, "b", 1), exit_with(0)};
  Session by_value;
  by_value.run({clause("BEGIN", actions)}, {sums(1)});
  EXPECT_EQ(rows(by_value.out()), "\nb 1\nc 1\na 2\n");
  Session reversed;
  reversed.set("aggsortrev").run({clause("BEGIN", actions)}, {sums(1)});
  EXPECT_EQ(rows(reversed.out()), "\na 2\nc 1\nb 1\n");
  Session by_key;
  by_key.set("aggsortkey").run({clause("BEGIN", actions)}, {sums(1)});
  EXPECT_EQ(rows(by_key.out()), "\na 2\nb 1\nc 1\n");
}

// The keys in the order in which their distributions are printed.
std::string order_of(Action function, const std::vector<int64_t>& parameters,
                     const std::vector<std::pair<std::string, int64_t>>& values) {
  std::vector<dif::ActDesc> actions;
  for (const auto& [key, value] : values) actions.push_back(add(function, 1, key, value));
  actions.push_back(printa({1}, "%s"));
  actions.push_back(exit_with(0));
  dif::AggregationDesc declared = declare(1, function, {kString});
  declared.parameters = parameters;
  Session session;
  session.run({clause("BEGIN", actions)}, {declared});
  return session.out();
}

TEST(Aggregations, EqualDistributionsAreSortedByWhatIsAtZero) {
  EXPECT_EQ(order_of(Action::agg_lquantize, {-10, 10, 10}, {{"a", 0}, {"a", 0}, {"b", 0}}), "ba\n");
  EXPECT_EQ(order_of(Action::agg_llquantize, {10, 0, 1, 10}, {{"a", 0}, {"a", 0}, {"b", 0}}), "ba\n");
}

TEST(Aggregations, DistributionsWeighWhereTheirBucketsBegin) {
  EXPECT_EQ(order_of(Action::agg_lquantize, {0, 2, 1}, {{"a", 7}, {"b", 1}, {"b", 1}}), "ba\n");  // beyond the limit of 2: 3
  EXPECT_EQ(order_of(Action::agg_llquantize, {10, 0, 1, 10}, {{"a", 9}, {"b", 3}, {"b", 3}}), "ba\n");
}

TEST(Aggregations, WidthsComeFromKeys) {
  const auto keyed = aggregate(Action::agg_sum, 1, {constant(6, kInt), constant(31, kInt), constant(5, kLong)}, 2);
  Session session;
  session.run({clause("BEGIN", {keyed, printa({1}, "[%*d][%-3@d]"), printa({1}, "[%-*d]"), exit_with(0)})},
              {declare(1, Action::agg_sum, {kInt, kInt})});
  EXPECT_EQ(session.out(), "[    31][5  ][31    ]\n");
}

TEST(Aggregations, SortedByTheKeyAskedFor) {
  auto pair = [](const std::string& key, int64_t number, int64_t value) {
    return aggregate(Action::agg_sum, 1, {text(key), constant(number), constant(value, kLong)}, 2);
  };
  std::vector<dif::ActDesc> actions{pair("x", 3, 1), pair("y", 1, 2), pair("w", 2, 3), pair("v", 2, 4), exit_with(0)};
  Session session;
  session.set("aggsortkey")
      .set("aggsortkeypos", "1")
      .run({clause("BEGIN", actions)}, {declare(1, Action::agg_sum, {kString, kInt})});
  EXPECT_EQ(rows(session.out()), "\ny 1 2\nv 2 4\nw 2 3\nx 3 1\n");
}

TEST(Aggregations, EqualValuesGoByTheKeyAskedFor) {
  auto pair = [](const std::string& key, int64_t number) {
    return aggregate(Action::agg_sum, 1, {text(key), constant(number), constant(1, kLong)}, 2);
  };
  Session session;
  session.set("aggsortkeypos", "1")
      .run({clause("BEGIN", {pair("x", 3), pair("y", 1), pair("w", 2), pair("v", 2), exit_with(0)})},
           {declare(1, Action::agg_sum, {kString, kInt})});
  EXPECT_EQ(rows(session.out()), "\ny 1 1\nv 2 1\nw 2 1\nx 3 1\n");
}

TEST(Aggregations, PrintaJoinsByKey) {
  std::vector<dif::ActDesc> actions{
      sum(1, "a", 1), sum(1, "b", 5), sum(2, "b", 2), sum(2, "c", 3), printa({1, 2}, "%-2s|%@2d|%@2d\n"),
      printa({1, 2}), exit_with(0)};
  Session session;
  session.run({clause("BEGIN", actions)}, {sums(1), sums(2)});
  EXPECT_EQ(rows(session.out()), "c | 0| 3\na | 1| 0\nb | 5| 2\n\nc 0 3\na 1 0\nb 5 2\n\n");
  Session second;
  second.set("aggsortpos", "1")
      .run({clause("BEGIN", {actions[0], actions[1], actions[2], actions[3], actions[4], exit_with(0)})}, {sums(1), sums(2)});
  EXPECT_EQ(rows(second.out()), "a | 1| 0\nb | 5| 2\nc | 0| 3\n\n");
}

// Ties are decided by the columns behind the one that is sorted by, then by those before it, then by key.
TEST(Aggregations, TiesOfJoinedLinesGoByTheColumnsInTurn) {
  const auto sorted = [](const char* position) {
    std::vector<dif::ActDesc> actions;
    const std::pair<const char*, std::array<int64_t, 3>> lines[] = {{"a", {2, 1, 2}}, {"b", {1, 1, 3}}, {"c", {3, 1, 1}},
                                                                    {"d", {1, 2, 1}}, {"e", {1, 1, 2}}, {"f", {1, 1, 2}}};
    for (const auto& [key, values] : lines)
      for (uint32_t id = 1; id <= 3; id++) actions.push_back(sum(id, key, values[id - 1]));
    actions.push_back(printa({1, 2, 3}, "%s"));
    actions.push_back(exit_with(0));
    Session session;
    session.set("aggsortpos", position).run({clause("BEGIN", actions)}, {sums(1), sums(2), sums(3)});
    return session.out();
  };
  EXPECT_EQ(sorted("0"), "efbdac\n");
  EXPECT_EQ(sorted("1"), "cefabd\n");
  EXPECT_EQ(sorted("2"), "dcefab\n");
  EXPECT_EQ(sorted("3"), sorted("0"));
}

// The keys of rows of one aggregation, in their order.
std::string order_of_keys(Action function, std::vector<int64_t> parameters,
                          const std::vector<std::pair<std::string, std::vector<int64_t>>>& lines) {
  std::vector<dif::ActDesc> actions;
  for (const auto& [key, values] : lines)
    for (const int64_t value : values) actions.push_back(add(function, 1, key, value));
  actions.push_back(printa({1}, "%s"));
  actions.push_back(exit_with(0));
  Session session;
  session.run({clause("BEGIN", actions)}, {declare(1, function, {kString}, std::move(parameters))});
  return session.out();
}

TEST(Aggregations, DistributionsWeighTheirBucketsByCount) {
  EXPECT_EQ(order_of_keys(Action::agg_quantize, {}, {{"a", {0, 0, 0}}, {"b", {0}}, {"c", {-1, 1, 0, 0}}}), "bca\n");
  EXPECT_EQ(order_of_keys(Action::agg_lquantize, {0, 100, 10}, {{"a", {5}}, {"b", {-5}}}), "ba\n");
  EXPECT_EQ(order_of_keys(Action::agg_lquantize, {100, 200, 10}, {{"a", {195, 195}}, {"b", {105, 105, 105}}}), "ba\n");
  EXPECT_EQ(order_of_keys(Action::agg_lquantize, {100, 210, 10}, {{"z", {105, 105}}, {"y", {215}}}), "zy\n");
  EXPECT_EQ(order_of_keys(Action::agg_llquantize, {10, 0, 3, 10}, {{"a", {0}}, {"b", {-100}}, {"c", {10}}, {"d", {5}}}),
            "badc\n");
}

TEST(Aggregations, KeysAreComparedByTheirKind) {
  const auto of_numbers = [](std::vector<int64_t> numbers) {
    std::vector<dif::ActDesc> actions;
    for (const int64_t number : numbers) actions.push_back(aggregate(Action::agg_count, 1, {constant(number, kLong)}, 1));
    actions.push_back(printa({1}, "%d "));
    actions.push_back(exit_with(0));
    Session session;
    session.set("aggsortkey").run({clause("BEGIN", actions)}, {declare(1, Action::agg_count, {kLong})});
    return session.out();
  };
  EXPECT_EQ(of_numbers({256, 1, -1}), "1 256 -1 \n");
  EXPECT_EQ(order_of_keys(Action::agg_sum, {}, {{"abc", {1}}, {"ab", {1}}, {"b", {1}}}), "ababcb\n");
}

TEST(Aggregations, ReversedFromTheLastAggregationOn) {
  Session session;
  session.set("aggsortrev").run({clause("BEGIN", {sum(1, "a", 1), sum(2, "b", 2), exit_with(0)})}, {sums(1), sums(2)});
  EXPECT_EQ(rows(session.out()), "\nb 2\na 1\n");
}

TEST(Aggregations, ClearedExtremesBeginAnew) {
  Session session;
  session.run(
      {clause("BEGIN", {add(Action::agg_min, 1, "a", 5), add(Action::agg_max, 2, "a", 5), on_aggregations(Action::clear, {1}),
                        on_aggregations(Action::clear, {2}), printa({1}, "%@d "), printa({2}, "%@d"), exit_with(0)})},
      {declare(1, Action::agg_min, {kString}), declare(2, Action::agg_max, {kString})});
  EXPECT_EQ(session.out(), "9223372036854775807 -9223372036854775808\n");
}

TEST(Aggregations, DeviationsAreNormalizedLikeTheirValues) {
  const auto by = [](int64_t divisor) {
    Session session;
    session.run({clause("BEGIN",
                        {add(Action::agg_stddev, 1, "a", -2000), add(Action::agg_stddev, 1, "a", 2000),
                         on_aggregations(Action::normalize, {1}, {constant(divisor, kLong)}), printa({1}, "%@d"), exit_with(0)})},
                {declare(1, Action::agg_stddev, {kString})});
    return session.out();
  };
  EXPECT_EQ(by(1), "2000\n");
  EXPECT_EQ(by(10), "200\n");
  EXPECT_EQ(by(-10), "200\n");
}

// The squares of both snapshots together exceed 64 bits by a carry.
TEST(Aggregations, SquaresAreMergedIn128Bits) {
  constexpr int64_t kValue = int64_t{3} << 31;
  Session session;
  session.set("aggsize", "256");
  const uint32_t id = session.add_probe("f", "entry");
  for (uint64_t i = 0; i < 200; i++) session.fire(id, {static_cast<uint64_t>(i % 2 ? kValue : -kValue), i % 10});
  session.run({clause("entry", {aggregate(Action::agg_stddev, 1, {built_in(dif::BuiltIn::arg0)}, 0),
                                aggregate(Action::agg_count, 2, {built_in(dif::BuiltIn::arg1)}, 1)}),
               clause("END", {printa({1}, "%@d")})},
              {declare(1, Action::agg_stddev), declare(2, Action::agg_count, {kLong})});
  EXPECT_EQ(session.out().substr(0, session.out().find('\n')), std::to_string(kValue));
  EXPECT_EQ(session.err(), "");
}

TEST(Aggregations, OneAggregationServesSeveralConversions) {
  Session session;
  session.run({clause("BEGIN", {sum(1, "a", 26), printa({1}, "%s %@d %@x %@5u|\n"), exit_with(0)})}, {sums(1)});
  EXPECT_EQ(session.out(), "a 26 1a    26|\n\n");
}

TEST(Aggregations, ClearKeepsKeys) {
  Session session;
  session.run(
      {clause("BEGIN", {sum(1, "a", 5), on_aggregations(Action::clear, {1}), exit_with(0)}), clause("END", {sum(1, "b", 7)})},
      {sums(1)});
  EXPECT_EQ(rows(session.out()), "\na 0\nb 7\n");  // END fires after clear()
}

// Sums arg0 by arg0 before and after a firing that calls exit(), on two CPUs and in one poll.
std::string rows_around_exit(std::vector<dif::ActDesc> last, const std::string& temporal) {
  Session session;
  session.set("temporal", temporal);
  const uint32_t work = session.add_probe("f", "entry"), end = session.add_probe("f", "last");
  for (uint64_t i : {1, 2, 3, 4}) session.fire(work, {i}, i % 2 == 0);
  session.fire(end, {}, 1);
  for (uint64_t i : {5, 6, 7, 8}) session.fire(work, {i}, i % 2 == 0);
  last.push_back(exit_with(0));
  const dif::Difo arg0 = built_in(dif::BuiltIn::arg0);
  session.run({clause("entry", {aggregate(Action::agg_sum, 1, {arg0, arg0}, 1)}), clause("last", std::move(last)),
               clause("END", {aggregate(Action::agg_sum, 1, {constant(9, kLong), constant(9, kLong)}, 1)})},
              {declare(1, Action::agg_sum, {kLong})});
  return rows(session.out());
}

TEST(Aggregations, OnlyEndAggregatesAfterTheClauseThatCallsExit) {
  for (const char* temporal : {"on", "off"}) {
    EXPECT_EQ(rows_around_exit({on_aggregations(Action::trunc, {1}, {constant(2)})}, temporal), "\n3 3\n4 4\n9 9\n");
    EXPECT_EQ(rows_around_exit({on_aggregations(Action::clear, {1})}, temporal), "\n1 0\n2 0\n3 0\n4 0\n9 9\n");
    EXPECT_EQ(rows_around_exit({printa({1}, "%d,")}, temporal), "1,2,3,4,\n");
  }
}

TEST(Aggregations, TruncKeepsTheLargestOrTheSmallest) {
  auto truncated = [](std::vector<dif::Difo> count) {
    std::vector<dif::ActDesc> actions{sum(1, "a", 1), sum(1, "b", 2), sum(1, "c", 3)};
    actions.push_back(on_aggregations(Action::trunc, {1}, std::move(count)));
    actions.push_back(exit_with(0));
    Session session;
    session.run({clause("BEGIN", actions)}, {sums(1)});
    return rows(session.out());
  };
  EXPECT_EQ(truncated({constant(2)}), "\nb 2\nc 3\n");
  EXPECT_EQ(truncated({constant(-1)}), "\na 1\n");
  EXPECT_EQ(truncated({constant(10)}), "\na 1\nb 2\nc 3\n");
  EXPECT_EQ(truncated({}), "\n");
  EXPECT_EQ(truncated({constant(INT64_MIN, kLong)}), "\na 1\nb 2\nc 3\n");
}

TEST(Aggregations, NormalizeUntilDenormalize) {
  auto by = [](int64_t divisor) { return on_aggregations(Action::normalize, {1}, {constant(divisor, kLong)}); };
  Session session;
  session.run({clause("BEGIN", {sum(1, "a", -100), by(10), printa({1}, "%@d\n"), by(-3), printa({1}, "%@d\n"),
                                on_aggregations(Action::denormalize, {1}), printa({1}, "%@d\n"), exit_with(0)})},
              {sums(1)});
  EXPECT_EQ(session.out(), "-10\n33\n-100\n\n");
}

TEST(Aggregations, NormalizeByZeroIsIgnoredAndSaid) {
  Session session;
  session.run({clause("BEGIN", {sum(1, "a", 4), on_aggregations(Action::normalize, {1}, {constant(0)}), exit_with(0)})},
              {sums(1)});
  EXPECT_EQ(rows(session.out()), "\na 4\n");
  EXPECT_EQ(session.err(), "dvm: normalize() by zero was ignored\n");
}

TEST(Aggregations, MergesAcrossSnapshots) {
  Session session;
  session.set("aggsize", "256");  // a handful of keys: the consumer must take them in between
  uint32_t id = session.add_probe("f", "entry");
  for (uint64_t i = 0; i < 1000; i++) session.fire(id, {i % 10});
  std::vector<dif::ActDesc> actions;
  uint32_t number = 1;
  std::vector<dif::AggregationDesc> declared;
  for (Action function : {Action::agg_min, Action::agg_max, Action::agg_sum, Action::agg_avg}) {
    actions.push_back(aggregate(function, number, {built_in(dif::BuiltIn::arg0)}, 0));
    declared.push_back(declare(number++, function));
  }
  actions.push_back(aggregate(Action::agg_count, number, {built_in(dif::BuiltIn::arg0)}, 1));
  declared.push_back(declare(number, Action::agg_count, {kLong}));
  session.run({clause("entry", actions)}, declared);
  std::string expected = "\n0\n9\n4500\n4\n";
  for (int i = 0; i < 10; i++) expected += std::to_string(i) + " 100\n";
  EXPECT_EQ(rows(session.out()), expected);
  EXPECT_EQ(session.err(), "");
}

TEST(Aggregations, SortsDistributionsByTheirWeight) {
  auto quantize = [](const std::string& key, int64_t value) { return add(Action::agg_quantize, 1, key, value); };
  Session session;
  session.run({clause("BEGIN", {quantize("large", 100), quantize("small", -100), quantize("zero", 0), exit_with(0)})},
              {declare(1, Action::agg_quantize, {kString})});
  std::string out = session.out();
  EXPECT_LT(out.find("small"), out.find("zero"));
  EXPECT_LT(out.find("zero"), out.find("large"));
}

TEST(Aggregations, ManyKeysOfAllKinds) {
  dif::DataType bytes{dif::TypeKind::bytes, false, false, 3, ""};
  dif::Difo three = text("abc");
  three.result = bytes;
  Session session;
  session.run(
      {clause("BEGIN", {aggregate(Action::agg_count, 1, {text(""), constant(-2), three, text("12345678")}, 4), exit_with(0)})},
      {declare(1, Action::agg_count, {kString, kInt, bytes, kString})});
  EXPECT_EQ(rows(session.out()), "\n-2 abc 12345678 1\n");
}

TEST(Aggregations, KeysAndValuesHaveTheirType) {
  constexpr int64_t kBeyond = int64_t{1} << 32;
  std::vector<dif::ActDesc> actions;
  for (const int64_t key : {kBeyond + 5, int64_t{5}})
    actions.push_back(aggregate(Action::agg_sum, 1, {constant(key), constant(kBeyond + 2)}, 1));
  actions.push_back(exit_with(0));
  Session session;
  session.run({clause("BEGIN", actions)}, {declare(1, Action::agg_sum, {kInt})});
  EXPECT_EQ(rows(session.out()), "\n5 4\n");
}

TEST(Aggregations, StringKeysEndAtTheLargestSize) {
  Session session;
  session.set("strsize", "8")
      .run({clause("BEGIN", {sum(1, "123456789", 1), sum(1, "12345678", 2), printa({1}, "%s=%@d,"), exit_with(0)})}, {sums(1)});
  EXPECT_EQ(session.out(), "12345678=3,\n");
}

// One key takes all the room there is.
TEST(Aggregations, CountsWithoutRoomAreDrops) {
  Session session;
  session.set("aggsize", "64")
      .run({clause("BEGIN", {aggregate(Action::agg_count, 1, {constant(1, kLong)}, 1), aggregate(Action::agg_count, 2, {}, 0),
                             aggregate(Action::agg_count, 3, {}, 0), aggregate(Action::agg_count, 4, {}, 0), exit_with(0)})},
           {declare(1, Action::agg_count, {kLong}), declare(2, Action::agg_count), declare(3, Action::agg_count),
            declare(4, Action::agg_count)});
  EXPECT_NE(session.err().find("aggregation drop"), std::string::npos) << session.out() << session.err();
}

TEST(Aggregations, BarsOfSums) {
  const auto drawn = [](std::vector<dif::ActDesc> actions, const char* zoom) {
    actions.push_back(exit_with(0));
    Session session;
    session.set("agghist").set("aggzoom", zoom).run({clause("BEGIN", std::move(actions))}, {sums(1)});
    return session.out();
  };
  const dif::ActDesc a = sum(1, "a", 10), b = sum(1, "b", 30), by = on_aggregations(Action::normalize, {1}, {constant(10)});
  const std::string head = "\n\n              key  ------------- Distribution ------------- count    \n";
  const auto line = [](char key, size_t length, int count) {
    const std::string number = std::to_string(count);
    return std::string(16, ' ') + key + " |" + std::string(length, '@') + std::string(40 - length, ' ') + ' ' + number +
           std::string(9 - number.size(), ' ') + '\n';
  };
  EXPECT_EQ(drawn({a, b}, "off"), head + line('a', 10, 10) + line('b', 30, 30));
  EXPECT_EQ(drawn({a, b, by}, "off"), head + line('a', 10, 1) + line('b', 30, 3));
  EXPECT_EQ(drawn({a, b}, "on"), head + line('a', 13, 10) + line('b', 38, 30));
}

TEST(Aggregations, PackedInAsciiIfSaid) {
  const auto packed = [](const char* encoding) {
    Session session;
    session.set("aggpack")
        .set("encoding", encoding)
        .run({clause("BEGIN", {aggregate(Action::agg_quantize, 1, {constant(1)}, 0), exit_with(0)})},
             {declare(1, Action::agg_quantize)});
    return session.out();
  };
  EXPECT_NE(packed("ascii").find(": X :"), std::string::npos) << packed("ascii");
  EXPECT_NE(packed("utf8").find(": \u2588 :"), std::string::npos) << packed("utf8");
}

// Keys of a whole number of words have nothing behind them.
TEST(Aggregations, KeysOfEightBytes) {
  dif::Difo eight = text("abcdefgh");
  eight.result = {dif::TypeKind::bytes, false, false, 8, ""};
  Session session;
  session.run({clause("BEGIN", {aggregate(Action::agg_count, 1, {eight, constant(7, kLong)}, 2), exit_with(0)})},
              {declare(1, Action::agg_count, {eight.result, kLong})});
  EXPECT_EQ(rows(session.out()), "\nabcdefgh 7 1\n");
}

}  // namespace
}  // namespace dvm::runtime::test
