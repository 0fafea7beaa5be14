#pragma once
// Aggregating functions in probe context: how a value updates the state of its key. Each row of aggregations.def has a function
// agg_<name>. The words of the state are:
//   count, sum   The total.
//   min, max     The extreme; it starts at the other end of the range.
//   avg          Count, total.
//   stddev       Count, total, total of squares (128 bits, low word first).
//   quantize     127 buckets: -2^62 ... -1, 0, 1 ... 2^62.
//   lquantize    Buckets: below base, one for each step, at or above limit.
//   llquantize   Buckets: <= -factor^(high+1), negative steps mirrored, |v| < factor^low, positive steps, >= factor^(high+1).

#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "dvm/dif/program.h"
#include "dvm/dif/update.h"

namespace dvm::runtime {

struct AggregateFunction;

// An aggregation, for probe context.
struct EnabledAggregation {
  dif::AggregationDesc desc;
  const AggregateFunction* function = nullptr;
  unsigned words = 0;   // of the state of a key
  uint32_t number = 0;  // in the session, from 0
};

// increment: 1 unless the clause has one.
using UpdateState = void (*)(const EnabledAggregation&, uint64_t* state, int64_t value, int64_t increment) noexcept;

struct AggregateFunction {
  dif::Action id;
  UpdateState update;
  uint64_t initial;  // of each word
};

// Null when there is no such function.
const AggregateFunction* find_aggregate(dif::Action id);

// 64-bit words of state for one key; 0: the parameters are invalid.
unsigned aggregation_words(dif::Action function, std::span<const int64_t> parameters);

// Buckets of quantize().
inline constexpr unsigned kQuantizeBuckets = 127;
inline constexpr unsigned kQuantizeZero = dif::kQuantizeZero;
// The bound of a bucket that is nearer to zero.
int64_t quantize_value(unsigned bucket);

// Buckets of llquantize(). Each magnitude m from low to high splits [factor^m, factor^(m+1)) into steps - steps/factor buckets of
// factor^(m+1)/steps each. Where that is below 1 (only at magnitude 0, and only if steps > factor) one bucket holds each integer.
// With fewer steps than the factor, the first of the `steps` buckets of a magnitude begins at factor^m.
struct LogLinear {
  int64_t factor, low, high, steps;

  explicit LogLinear(std::span<const int64_t> parameters)
      : factor(parameters[0]), low(parameters[1]), high(parameters[2]), steps(parameters[3]) {}
  int64_t per_magnitude() const { return steps - steps / factor; }
  unsigned zero_bucket() const { return static_cast<unsigned>(1 + (high - low + 1) * per_magnitude()); }
  unsigned buckets() const { return 2 * zero_bucket() + 1; }
  unsigned bucket_of(int64_t value) const noexcept;
  uint64_t power(int64_t exponent) const noexcept;
};

}  // namespace dvm::runtime
