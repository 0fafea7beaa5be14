// The bodies of the aggregating functions. Tested by tests/unit/runtime/aggregate_test.cpp.

#include "runtime/probe/aggregate.h"

#include <algorithm>

#include "dvm/dif/shaped_update.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kInitial_min = std::numeric_limits<int64_t>::max();
constexpr uint64_t kInitial_max = static_cast<uint64_t>(std::numeric_limits<int64_t>::min());
constexpr unsigned kMaxLevels = 65535;  // DTrace keeps them in 16 bits

void add_to(uint64_t& word, int64_t amount) { word += static_cast<uint64_t>(amount); }

#define DVM_UPDATE(name)                                                                                          \
  void agg_##name(const EnabledAggregation&, uint64_t* state, int64_t value, int64_t increment) noexcept {        \
    dif::update_##name(dif::IntegerWords{state}, static_cast<uint64_t>(value), static_cast<uint64_t>(increment)); \
  }
#include "vm/dif/updates.def"

void agg_stddev(const EnabledAggregation&, uint64_t* state, int64_t value, int64_t) noexcept { dif::update_stddev(state, value); }

void agg_lquantize(const EnabledAggregation& aggregation, uint64_t* state, int64_t value, int64_t increment) noexcept {
  const std::vector<int64_t>& p = aggregation.desc.parameters;
  add_to(state[dif::lquantize_bucket(p[0], p.size() > 2 ? p[2] : 1, aggregation.words, value)], increment);
}

void agg_llquantize(const EnabledAggregation& aggregation, uint64_t* state, int64_t value, int64_t increment) noexcept {
  add_to(state[LogLinear(aggregation.desc.parameters).bucket_of(value)], increment);
}

constexpr uint64_t initial_of(dif::Action id) {
  return id == dif::Action::agg_min ? kInitial_min : id == dif::Action::agg_max ? kInitial_max : 0;
}

constexpr AggregateFunction kFunctions[] = {
#define DVM_AGGREGATION(number, name, arguments, words, histogram, text) \
  {dif::Action::agg_##name, agg_##name, initial_of(dif::Action::agg_##name)},
#include "vm/dif/aggregations.def"
};

unsigned lquantize_words(std::span<const int64_t> p) {
  if (p.size() < 2 || p[0] >= p[1]) return 0;
  if (p[0] < std::numeric_limits<int32_t>::min() || p[1] > std::numeric_limits<int32_t>::max()) return 0;
  int64_t step = p.size() > 2 ? p[2] : 1;
  if (step < 1) return 0;
  int64_t levels = (p[1] - p[0]) / step;
  return levels < 1 || levels > kMaxLevels ? 0 : static_cast<unsigned>(levels + 2);
}

// factor^(high + 1) must fit in 63 bits, and each magnitude must split evenly.
bool log_linear_is_sound(std::span<const int64_t> p) {
  if (p.size() < 4 || p[0] < 2 || p[0] > kMaxLevels || p[1] < 0 || p[1] > p[2] || p[2] > 62) return false;
  if (p[3] < 1 || p[3] > kMaxLevels || (p[3] < p[0] ? p[0] % p[3] : p[3] % p[0]) != 0) return false;
  int64_t power = 1;
  for (int64_t m = 0; m <= p[2]; m++)
    if (__builtin_mul_overflow(power, p[0], &power)) return false;
  return true;
}

unsigned llquantize_words(std::span<const int64_t> p) {
  if (!log_linear_is_sound(p)) return 0;
  LogLinear shape(p);
  return (shape.high - shape.low + 1) * shape.per_magnitude() > kMaxLevels ? 0 : shape.buckets();
}

}  // namespace

const AggregateFunction* find_aggregate(dif::Action id) {
  for (const AggregateFunction& row : kFunctions)
    if (row.id == id) return &row;
  return nullptr;
}

unsigned aggregation_words(dif::Action function, std::span<const int64_t> parameters) {
  if (function == dif::Action::agg_lquantize) return lquantize_words(parameters);
  if (function == dif::Action::agg_llquantize) return llquantize_words(parameters);
  const dif::AggregationInfo* info = dif::find_aggregation(function);
  return info ? info->words : 0;
}

int64_t quantize_value(unsigned bucket) {
  if (bucket == kQuantizeZero) return 0;
  return bucket > kQuantizeZero ? int64_t{1} << (bucket - kQuantizeZero - 1) : -(int64_t{1} << (kQuantizeZero - 1 - bucket));
}

uint64_t LogLinear::power(int64_t exponent) const noexcept {
  uint64_t result = 1;
  while (exponent-- > 0) result *= static_cast<uint64_t>(factor);
  return result;
}

unsigned LogLinear::bucket_of(int64_t value) const noexcept {
  const uint64_t distance = dif::llquantize_distance(factor, low, high, steps, zero_bucket(), dif::magnitude(value));
  return static_cast<unsigned>(value < 0 ? zero_bucket() - distance : zero_bucket() + distance);
}

}  // namespace dvm::runtime
