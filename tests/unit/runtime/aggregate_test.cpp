// Aggregating functions in probe context: which word changes.

#include "runtime/probe/aggregate.h"

#include <gtest/gtest.h>

#include <numeric>

namespace dvm::runtime {
namespace {

class Tester {
 public:
  explicit Tester(dif::Action function, std::vector<int64_t> parameters = {}) {
    aggregation_.desc.parameters = std::move(parameters);
    aggregation_.function = find_aggregate(function);
    aggregation_.words = aggregation_words(function, aggregation_.desc.parameters);
    state_.assign(aggregation_.words, aggregation_.function->initial);
  }
  Tester& add(int64_t value, int64_t increment = 1) {
    aggregation_.function->update(aggregation_, state_.data(), value, increment);
    return *this;
  }
  int64_t word(size_t i) const { return static_cast<int64_t>(state_.at(i)); }
  // The one bucket that is not zero.
  size_t bucket() const {
    for (size_t i = 0; i < state_.size(); i++)
      if (state_[i] != 0) return i;
    return SIZE_MAX;
  }
  size_t words() const { return state_.size(); }

 private:
  EnabledAggregation aggregation_;
  std::vector<uint64_t> state_;
};

TEST(Aggregate, Scalars) {
  EXPECT_EQ(Tester(dif::Action::agg_count).add(5).add(-5).word(0), 2);
  EXPECT_EQ(Tester(dif::Action::agg_sum).add(5).add(-15).word(0), -10);
  EXPECT_EQ(Tester(dif::Action::agg_min).add(5).add(-15).add(0).word(0), -15);
  EXPECT_EQ(Tester(dif::Action::agg_max).add(-15).add(-5).word(0), -5);
  Tester avg(dif::Action::agg_avg);
  avg.add(10).add(15);
  EXPECT_EQ(avg.word(0), 2);
  EXPECT_EQ(avg.word(1), 25);
}

TEST(Aggregate, StddevKeepsSquaresIn128Bits) {
  Tester stddev(dif::Action::agg_stddev);
  stddev.add(INT64_MIN).add(INT64_MIN);
  EXPECT_EQ(stddev.word(0), 2);
  EXPECT_EQ(stddev.word(2), 0);
  EXPECT_EQ(static_cast<uint64_t>(stddev.word(3)), uint64_t{1} << 63);  // 2 * 2^126
}

TEST(Aggregate, QuantizeBuckets) {
  auto value = [](int64_t v) { return quantize_value(static_cast<unsigned>(Tester(dif::Action::agg_quantize).add(v).bucket())); };
  EXPECT_EQ(value(0), 0);
  EXPECT_EQ(value(1), 1);
  EXPECT_EQ(value(3), 2);
  EXPECT_EQ(value(4), 4);
  EXPECT_EQ(value(-1), -1);
  EXPECT_EQ(value(-7), -4);
  EXPECT_EQ(value(INT64_MAX), int64_t{1} << 62);
  EXPECT_EQ(value(INT64_MIN), -(int64_t{1} << 62));
}

TEST(Aggregate, QuantizeTakesIncrements) {
  EXPECT_EQ(Tester(dif::Action::agg_quantize).add(0, 10).add(0, -3).word(kQuantizeZero), 7);
}

TEST(Aggregate, LquantizeBuckets) {
  auto bucket = [](int64_t v) { return Tester(dif::Action::agg_lquantize, {-10, 10, 5}).add(v).bucket(); };
  EXPECT_EQ(Tester(dif::Action::agg_lquantize, {-10, 10, 5}).words(), 6u);
  EXPECT_EQ(bucket(-11), 0u);
  EXPECT_EQ(bucket(INT64_MIN), 0u);
  EXPECT_EQ(bucket(-10), 1u);
  EXPECT_EQ(bucket(-6), 1u);
  EXPECT_EQ(bucket(9), 4u);
  EXPECT_EQ(bucket(10), 5u);
  EXPECT_EQ(bucket(INT64_MAX), 5u);
}

TEST(Aggregate, LlquantizeBuckets) {
  LogLinear shape(std::vector<int64_t>{10, 0, 3, 10});
  EXPECT_EQ(shape.bucket_of(0), shape.zero_bucket());
  EXPECT_EQ(shape.bucket_of(1), shape.zero_bucket() + 1);
  EXPECT_EQ(shape.bucket_of(9), shape.zero_bucket() + 9);
  EXPECT_EQ(shape.bucket_of(10), shape.zero_bucket() + 10);
  EXPECT_EQ(shape.bucket_of(19), shape.zero_bucket() + 10);
  EXPECT_EQ(shape.bucket_of(9999), shape.zero_bucket() + 36);
  EXPECT_EQ(shape.bucket_of(10000), shape.buckets() - 1);
  EXPECT_EQ(shape.bucket_of(-20), shape.zero_bucket() - 11);
  EXPECT_EQ(shape.bucket_of(INT64_MIN), 0u);
  EXPECT_EQ(shape.bucket_of(INT64_MAX), shape.buckets() - 1);
}

TEST(Aggregate, LlquantizeStaysInsideForAllShapes) {
  for (int64_t factor : {2, 3, 10, 16})
    for (int64_t low : {0, 1, 2})
      for (int64_t high : {2, 5})
        for (int64_t times : {1, 2, 5}) {
          std::vector<int64_t> parameters{factor, low, high, factor * times};
          ASSERT_NE(aggregation_words(dif::Action::agg_llquantize, parameters), 0u);
          LogLinear shape(parameters);
          unsigned last = 0;
          for (int64_t v = -3000; v < 3000; v++) {
            unsigned bucket = shape.bucket_of(v);
            ASSERT_LT(bucket, shape.buckets());
            ASSERT_GE(bucket, last) << "buckets are in the order of their values";
            last = bucket;
          }
        }
}

TEST(Aggregate, TheLargestParametersHaveWords) {
  EXPECT_EQ(aggregation_words(dif::Action::agg_lquantize, std::vector<int64_t>{0, 65535, 1}), 65537u);
  EXPECT_EQ(aggregation_words(dif::Action::agg_lquantize, std::vector<int64_t>{0, 65536, 1}), 0u);
  EXPECT_NE(aggregation_words(dif::Action::agg_llquantize, std::vector<int64_t>{2, 0, 61, 2}), 0u);
  EXPECT_EQ(aggregation_words(dif::Action::agg_llquantize, std::vector<int64_t>{2, 0, 62, 2}), 0u);  // 2^63
  EXPECT_NE(aggregation_words(dif::Action::agg_llquantize, std::vector<int64_t>{10, 0, 17, 10}), 0u);
  EXPECT_EQ(aggregation_words(dif::Action::agg_llquantize, std::vector<int64_t>{10, 0, 18, 10}), 0u);
}

TEST(Aggregate, ImpossibleParametersHaveNoWords) {
  EXPECT_EQ(aggregation_words(dif::Action::agg_lquantize, {}), 0u);
  EXPECT_EQ(aggregation_words(dif::Action::agg_lquantize, std::vector<int64_t>{10, 0, 1}), 0u);
  EXPECT_EQ(aggregation_words(dif::Action::agg_lquantize, std::vector<int64_t>{0, 10, 0}), 0u);
  EXPECT_EQ(aggregation_words(dif::Action::agg_lquantize, std::vector<int64_t>{0, 10, -1}), 0u);
  EXPECT_EQ(aggregation_words(dif::Action::agg_lquantize, std::vector<int64_t>{0, 1 << 20, 1}), 0u);
  EXPECT_EQ(aggregation_words(dif::Action::agg_lquantize, std::vector<int64_t>{INT64_MIN, INT64_MAX, 1}), 0u);
  EXPECT_EQ(aggregation_words(dif::Action::agg_llquantize, std::vector<int64_t>{10, 0, 30, 10}), 0u);
  EXPECT_EQ(aggregation_words(dif::Action::agg_llquantize, std::vector<int64_t>{1, 0, 3, 10}), 0u);
  EXPECT_EQ(aggregation_words(dif::Action::agg_llquantize, std::vector<int64_t>{10, 0, 3, 15}), 0u);
  EXPECT_EQ(aggregation_words(dif::Action::trace, {}), 0u);
}

}  // namespace
}  // namespace dvm::runtime
