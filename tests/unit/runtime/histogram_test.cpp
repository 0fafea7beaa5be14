// Distributions as text.

#include "runtime/consumer/histogram.h"

#include <gtest/gtest.h>

#include <climits>
#include <vector>

#include "runtime/probe/aggregate.h"

namespace dvm::runtime {
namespace {

constexpr const char* kHead = "\n           value  ------------- Distribution ------------- count    \n";

std::string line(const std::string& label, const std::string& bar, const std::string& count) {
  std::string text = std::string(16 - label.size(), ' ') + label + " |" + bar + std::string(40 - bar.size(), ' ') + ' ' + count;
  return text + std::string(9 - count.size(), ' ') + '\n';
}

std::string quantize(const std::vector<std::pair<unsigned, int64_t>>& counts, int64_t normal = 1) {
  std::vector<uint64_t> state(kQuantizeBuckets, 0);
  for (auto [bucket, count] : counts) state[bucket] = static_cast<uint64_t>(count);
  std::string out;
  append_quantize(out, state, normal);
  return out;
}

TEST(Histogram, DrawsOneEmptyBucketOnEachSide) {
  EXPECT_EQ(quantize({{kQuantizeZero + 2, 3}, {kQuantizeZero + 4, 1}}),
            kHead + line("1", "", "0") + line("2", std::string(30, '@'), "3") + line("4", "", "0") +
                line("8", std::string(10, '@'), "1") + line("16", "", "0"));
}

TEST(Histogram, AnEmptyOneShowsTheBucketsAroundZero) {
  EXPECT_EQ(quantize({}), kHead + line("-1", "", "0") + line("0", "", "0") + line("1", "", "0"));
}

TEST(Histogram, NormalizeDividesCountsAndNotBars) {
  EXPECT_EQ(quantize({{kQuantizeZero, 20}}, 10),
            kHead + line("-1", "", "0") + line("0", std::string(40, '@'), "2") + line("1", "", "0"));
}

TEST(Histogram, CountsBelowZeroGrowToTheLeft) {
  std::string text = quantize({{kQuantizeZero, -4}});
  EXPECT_NE(text.find("               0 " + std::string(40, '@') + "| -4       \n"), std::string::npos) << text;
  text = quantize({{kQuantizeZero, -1}, {kQuantizeZero + 1, 1}});
  EXPECT_NE(text.find("               0 " + std::string(10, ' ') + std::string(10, '@') + "|" + std::string(20, ' ') + " -1 "),
            std::string::npos)
      << text;
}

TEST(Histogram, LquantizeLabelsItsEnds) {
  std::vector<uint64_t> state{1, 0, 0, 1};
  std::vector<int64_t> parameters{-2, 2, 2};
  std::string out;
  append_lquantize(out, state, parameters, 1);
  EXPECT_EQ(out, kHead + line("< -2", std::string(20, '@'), "1") + line("-2", "", "0") + line("0", "", "0") +
                     line(">= 2", std::string(20, '@'), "1"));
}

std::string llquantize(const std::vector<int64_t>& parameters, const std::vector<int64_t>& values) {
  LogLinear shape(parameters);
  std::vector<uint64_t> state(shape.buckets(), 0);
  for (int64_t value : values) state[shape.bucket_of(value)]++;
  std::string out;
  append_llquantize(out, state, parameters, 1);
  return out;
}

TEST(Histogram, LlquantizeStepsWithinEachMagnitude) {
  EXPECT_EQ(llquantize({10, 1, 2, 5 * 2}, {30, 40}), kHead + line("20", "", "0") + line("30", std::string(20, '@'), "1") +
                                                         line("40", std::string(20, '@'), "1") + line("50", "", "0"));
  EXPECT_EQ(llquantize({2, 0, 3, 2}, {0, 100}), kHead + line("-1", "", "0") + line("0", std::string(20, '@'), "1") +
                                                    line("1", "", "0") + line("2", "", "0") + line("4", "", "0") +
                                                    line("8", "", "0") + line(">= 16", std::string(20, '@'), "1"));
}

TEST(Histogram, LlquantizeNamesTheBucketAroundZero) {
  EXPECT_EQ(llquantize({10, 2, 3, 10}, {5, 100}), kHead + line("-100", "", "0") + line("abs() < 100", std::string(20, '@'), "1") +
                                                      line("100", std::string(20, '@'), "1") + line("200", "", "0"));
  EXPECT_EQ(llquantize({10, 2, 3, 10}, {100}),
            kHead + line("< 100", "", "0") + line("100", std::string(40, '@'), "1") + line("200", "", "0"));
}

TEST(Histogram, LlquantizeLeavesOutBucketsBetweenIntegers) {
  // 20 steps of 0.5 between 0 and 10: only every second one holds an integer.
  EXPECT_EQ(llquantize({10, 0, 1, 20}, {2, 3}), kHead + line("1", "", "0") + line("2", std::string(20, '@'), "1") +
                                                    line("3", std::string(20, '@'), "1") + line("4", "", "0"));
}

TEST(Histogram, LlquantizeNamesBothOpenEnds) {
  const std::string text = llquantize({2, 0, 1, 2}, {-100, 100});
  EXPECT_NE(text.find(" <= -4 |"), std::string::npos) << text;
  EXPECT_NE(text.find(" >= 4 |"), std::string::npos) << text;
}

TEST(Histogram, BarsAreRoundedToColumns) {
  Bars bars({});
  bars.add(1), bars.add(2);
  EXPECT_EQ(bars.bar(1), "|" + std::string(13, '@') + std::string(27, ' '));
  EXPECT_EQ(bars.bar(2), "|" + std::string(27, '@') + std::string(13, ' '));
}

TEST(Histogram, TheLongestZoomedBarLeavesTwoColumns) {
  Bars bars({true, false, false});
  bars.add(10), bars.add(5);
  EXPECT_EQ(bars.bar(10), "|" + std::string(38, '@') + "  ");
  EXPECT_EQ(bars.bar(5), "|" + std::string(19, '@') + std::string(21, ' '));
}

std::string packed(const PackedBuckets& buckets, const std::vector<uint64_t>& state, bool utf8 = false) {
  std::string out;
  append_packed_header(out, buckets, 0);
  append_packed(out, buckets, state, {false, false, utf8});
  return out;
}

std::string packed_quantized(const std::vector<unsigned>& values) {
  std::vector<uint64_t> state(kQuantizeBuckets, 0);
  for (const unsigned bucket : values) state[bucket]++;
  const std::span<const uint64_t> states[] = {state};
  return packed(packed_quantize(states), state);
}

// Zero needs none before it.
TEST(Histogram, PackedFromOneBucketBeforeTheFirstToOneBehindTheLast) {
  EXPECT_EQ(packed_quantized({kQuantizeZero}), "\n  min .--. max  | count\n    0 :X : 1    | 1\n");
  EXPECT_EQ(packed_quantized({kQuantizeZero + 2}), "\n  min .---. max  | count\n    1 : X : 4    | 1\n");
  EXPECT_EQ(packed_quantized({kQuantizeZero - 2}), "\n  min .---. max  | count\n   -4 : X : -1   | 1\n");
  // Columns are as wide as their label: five characters and four.
  EXPECT_EQ(packed_quantized({kQuantizeZero - 11}), "\n   min .---. max  | count\n -2048 : X : -512 | 1\n");
}

TEST(Histogram, PackedLinearOnesShowAllBuckets) {
  const std::vector<int64_t> parameters{0, 30, 10};
  EXPECT_EQ(packed(packed_lquantize(parameters, 5), {0, 1, 0, 0, 1}),
            "\n     min .-----. max      | count\n     < 0 : x  x: >= 30    | 2\n");
  EXPECT_NE(packed(packed_lquantize(parameters, 5), {0, 0, 0, 0, 1}, true).find(":    \u2588:"), std::string::npos);
}

TEST(Histogram, NormalizedIsSafe) {
  EXPECT_EQ(normalized(-10, 3), -3);
  EXPECT_EQ(normalized(10, 0), 10);
  EXPECT_EQ(normalized(INT64_MIN, -1), INT64_MAX);
  EXPECT_EQ(normalized(5, -1), -5);
  EXPECT_EQ(normalized(INT64_MAX, -1), -INT64_MAX);
}

}  // namespace
}  // namespace dvm::runtime
