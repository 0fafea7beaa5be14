// Merging, sorting and printing by function. Tested by tests/unit/runtime/aggregation_test.cpp.

#include "runtime/consumer/aggregation.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/probe/aggregate.h"

namespace dvm::runtime {
namespace {

using State = std::span<const uint64_t>;
__extension__ using Wide = unsigned __int128;

template <class T>
int order_of(T a, T b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
int64_t as_signed(uint64_t word) { return static_cast<int64_t>(word); }

// merge_<name>: adds a snapshot's state to the merged one.

void add_words(std::span<uint64_t> into, State from) {
  for (size_t i = 0; i < into.size(); i++) into[i] += from[i];
}
void merge_count(std::span<uint64_t> into, State from) { add_words(into, from); }
void merge_sum(std::span<uint64_t> into, State from) { add_words(into, from); }
void merge_avg(std::span<uint64_t> into, State from) { add_words(into, from); }
void merge_quantize(std::span<uint64_t> into, State from) { add_words(into, from); }
void merge_lquantize(std::span<uint64_t> into, State from) { add_words(into, from); }
void merge_llquantize(std::span<uint64_t> into, State from) { add_words(into, from); }
void merge_min(std::span<uint64_t> into, State from) {
  if (as_signed(from[0]) < as_signed(into[0])) into[0] = from[0];
}
void merge_max(std::span<uint64_t> into, State from) {
  if (as_signed(from[0]) > as_signed(into[0])) into[0] = from[0];
}
void merge_stddev(std::span<uint64_t> into, State from) {
  Wide squares = (static_cast<Wide>(into[3]) << 64 | into[2]) + (static_cast<Wide>(from[3]) << 64 | from[2]);
  into[0] += from[0];
  into[1] += from[1];
  into[2] = static_cast<uint64_t>(squares);
  into[3] = static_cast<uint64_t>(squares >> 64);
}

// What one number is printed, for the functions that have one.

uint64_t square_root(Wide value) {
  Wide root = 0;
  for (Wide bit = static_cast<Wide>(1) << 126; bit != 0; bit >>= 2) {
    if (value >= root + bit) {
      value -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return static_cast<uint64_t>(root);
}

Wide square(int64_t value) {
  Wide size = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  return size * size;
}

int64_t number_count(State state, int64_t normal) { return normalized(as_signed(state[0]), normal); }
int64_t number_sum(State state, int64_t normal) { return number_count(state, normal); }
int64_t number_min(State state, int64_t normal) { return number_count(state, normal); }
int64_t number_max(State state, int64_t normal) { return number_count(state, normal); }
int64_t number_avg(State state, int64_t normal) {
  return state[0] == 0 ? 0 : normalized(normalized(as_signed(state[1]), normal), as_signed(state[0]));
}
// The root of the mean of the squares less the square of the mean, all in integers.
int64_t number_stddev(State state, int64_t normal) {
  if (state[0] == 0) return 0;
  Wide squares = static_cast<Wide>(state[3]) << 64 | state[2];
  uint64_t divisor = normal == 0 ? 1 : static_cast<uint64_t>(normal < 0 ? -normal : normal);
  Wide mean_of_squares = squares / divisor / divisor / state[0];
  Wide square_of_mean = square(number_avg(state, normal));
  return mean_of_squares < square_of_mean ? 0 : static_cast<int64_t>(square_root(mean_of_squares - square_of_mean));
}

// compare_<name>: the order of values.

int compare_count(State a, State b, const MergedAggregation&) { return order_of(as_signed(a[0]), as_signed(b[0])); }
int compare_sum(State a, State b, const MergedAggregation& g) { return compare_count(a, b, g); }
int compare_min(State a, State b, const MergedAggregation& g) { return compare_count(a, b, g); }
int compare_max(State a, State b, const MergedAggregation& g) { return compare_count(a, b, g); }
int compare_avg(State a, State b, const MergedAggregation&) { return order_of(number_avg(a, 1), number_avg(b, 1)); }
int compare_stddev(State a, State b, const MergedAggregation&) { return order_of(number_stddev(a, 1), number_stddev(b, 1)); }

// Distributions: by the sum of count times bucket, then by the bucket around zero.
int compare_weights(State a, State b, size_t zero, long double (*value)(size_t, const MergedAggregation&),
                    const MergedAggregation& g) {
  long double weight_a = 0, weight_b = 0;
  for (size_t i = 0; i < a.size(); i++) {
    long double at = value(i, g);
    weight_a += at * static_cast<long double>(as_signed(a[i]));
    weight_b += at * static_cast<long double>(as_signed(b[i]));
  }
  int order = order_of(weight_a, weight_b);
  return order != 0 || zero >= a.size() ? order : order_of(as_signed(a[zero]), as_signed(b[zero]));
}
int compare_quantize(State a, State b, const MergedAggregation& g) {
  auto value = [](size_t i, const MergedAggregation&) -> long double {
    return static_cast<long double>(quantize_value(static_cast<unsigned>(i)));
  };
  return compare_weights(a, b, kQuantizeZero, value, g);
}
long double lquantize_at(size_t i, const MergedAggregation& g) {
  const std::vector<int64_t>& p = g.desc.parameters;
  auto base = static_cast<long double>(p[0]);
  auto step = p.size() > 2 ? static_cast<long double>(p[2]) : 1;
  return i == 0 ? base - 1 : base + static_cast<long double>(i - 1) * step;
}
int compare_lquantize(State a, State b, const MergedAggregation& g) { return compare_weights(a, b, SIZE_MAX, lquantize_at, g); }
long double llquantize_at(size_t i, const MergedAggregation& g) {
  LogLinear shape(g.desc.parameters);
  size_t zero = shape.zero_bucket();
  size_t distance = i > zero ? i - zero : zero - i;
  if (distance == 0) return 0;
  auto per = static_cast<size_t>(shape.per_magnitude());
  auto bottom = static_cast<long double>(shape.power(shape.low + static_cast<int64_t>((distance - 1) / per)));
  auto value = bottom * (1 + static_cast<long double>((distance - 1) % per) / static_cast<long double>(per));
  return i > zero ? value : -value;
}
int compare_llquantize(State a, State b, const MergedAggregation& g) { return compare_weights(a, b, SIZE_MAX, llquantize_at, g); }

// print_<name>: by a conversion, or in a column of 16 when there is none.

void append_number(std::string& out, const ValueStyle& style, const MergedAggregation& g, int64_t value) {
  bool is_signed = g.desc.value.kind != dif::TypeKind::integer || g.desc.value.is_signed || g.desc.value.size < 8;
  if (style.conversion) return append_converted(out, *style.conversion, value);
  out += ' ';
  if (is_signed)
    append_signed(out, {.width = 16}, value);
  else
    append_unsigned(out, {.width = 16}, static_cast<uint64_t>(value));
}
#define DVM_NUMBER(name)                                                                                  \
  void print_##name(std::string& out, const ValueStyle& style, const MergedAggregation& g, State state) { \
    append_number(out, style, g, number_##name(state, g.normal));                                         \
  }
DVM_NUMBER(count)
DVM_NUMBER(sum)
DVM_NUMBER(min)
DVM_NUMBER(max)
DVM_NUMBER(avg)
DVM_NUMBER(stddev)
#undef DVM_NUMBER
void print_quantize(std::string& out, const ValueStyle& style, const MergedAggregation& g, State state) {
  append_quantize(out, state, g.normal, style.bars);
}
void print_lquantize(std::string& out, const ValueStyle& style, const MergedAggregation& g, State state) {
  append_lquantize(out, state, g.desc.parameters, g.normal, style.bars);
}
void print_llquantize(std::string& out, const ValueStyle& style, const MergedAggregation& g, State state) {
  append_llquantize(out, state, g.desc.parameters, g.normal, style.bars);
}

struct FunctionRow {
  dif::Action id;
  void (*merge)(std::span<uint64_t>, State);
  int (*compare)(State, State, const MergedAggregation&);
  void (*print)(std::string&, const ValueStyle&, const MergedAggregation&, State);
};
constexpr FunctionRow kFunctions[] = {
#define DVM_AGGREGATION(number, name, arguments, words, histogram, text) \
  {dif::Action::agg_##name, merge_##name, compare_##name, print_##name},
#include "vm/dif/aggregations.def"
};

const FunctionRow& function_of(const MergedAggregation& aggregation) {
  for (const FunctionRow& row : kFunctions)
    if (row.id == aggregation.desc.function) return row;
  return kFunctions[0];
}

int compare_key(const Datum& a, const Datum& b) {
  if (a.is_integer()) return order_of(a.unsigned_value(), b.unsigned_value());
  size_t both = std::min(a.bytes.size(), b.bytes.size());
  int order = std::memcmp(a.bytes.data(), b.bytes.data(), both);
  return order != 0 ? order : order_of(a.bytes.size(), b.bytes.size());
}

int compare_keys(const MergedRow& a, const MergedRow& b, size_t position) {
  std::vector<Datum> left = keys_of(a), right = keys_of(b);
  size_t count = std::min(left.size(), right.size());
  size_t first = position < count ? position : 0;
  for (size_t i = 0; i < count; i++) {
    size_t at = (first + i) % count;
    if (int order = compare_key(left[at], right[at])) return order;
  }
  return 0;
}

// A row that is not there compares, and prints, as a state of zeros.
std::vector<uint64_t> zeros(const MergedAggregation& aggregation) { return std::vector<uint64_t>(aggregation.words, 0); }

int compare_values(const MergedRow* a, const MergedRow* b) {
  if (a == nullptr && b == nullptr) return 0;
  const MergedAggregation& aggregation = *(a ? a : b)->aggregation;
  std::vector<uint64_t> none = a && b ? std::vector<uint64_t>() : zeros(aggregation);
  return function_of(aggregation).compare(a ? State(a->state) : State(none), b ? State(b->state) : State(none), aggregation);
}

int compare_rows(const MergedRow& a, const MergedRow& b, const SortOrder& order) {
  int by_key = order.by_key ? compare_keys(a, b, order.key_position) : 0;
  if (by_key != 0) return by_key;
  int by_value = compare_values(&a, &b);
  return by_value != 0 || order.by_key ? by_value : compare_keys(a, b, order.key_position);
}

int compare_joined(const JoinedRow& a, const JoinedRow& b, const SortOrder& order) {
  int by_key = order.by_key ? compare_keys(a.any(), b.any(), order.key_position) : 0;
  if (by_key != 0) return by_key;
  size_t first = order.value_position < a.rows.size() ? order.value_position : 0;
  if (int by_value = compare_values(a.rows[first], b.rows[first])) return by_value;
  for (size_t i = 0; i < a.rows.size(); i++)
    if (int by_value = compare_values(a.rows[i], b.rows[i])) return by_value;
  return compare_keys(a.any(), b.any(), order.key_position);
}

template <class Rows, class Compare>
void sort_rows(Rows& rows, bool reversed, Compare compare) {
  std::sort(rows.begin(), rows.end(),
            [&](const auto& a, const auto& b) { return reversed ? compare(b, a) < 0 : compare(a, b) < 0; });
}

}  // namespace

const MergedRow& JoinedRow::any() const {
  return **std::find_if(rows.begin(), rows.end(), [](const MergedRow* r) { return r; });
}

SortOrder::SortOrder(const dif::Options& options)
    : by_key(options[dif::Option::aggsortkey] > 0),
      reversed(options[dif::Option::aggsortrev] > 0),
      key_position(static_cast<size_t>(std::max<int64_t>(options[dif::Option::aggsortkeypos], 0))),
      value_position(static_cast<size_t>(std::max<int64_t>(options[dif::Option::aggsortpos], 0))) {}

void Aggregations::declare(const dif::AggregationDesc& desc, unsigned words, uint64_t initial) {
  if (by_id_.contains(desc.id)) return;
  MergedAggregation& added = all_.emplace_back();
  added.desc = desc;
  added.words = words;
  added.initial = initial;
  by_id_[desc.id] = &added;
}

MergedAggregation* Aggregations::find(uint32_t id) {
  auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : it->second;
}

void Aggregations::take(AggregationBuffer& buffer, const RewriteKey& rewrite) {
  buffer.for_each([&](uint32_t id, std::span<const std::byte> key, State state) {
    MergedAggregation* aggregation = find(id);
    if (aggregation == nullptr) return;
    std::string text(reinterpret_cast<const char*>(key.data()), key.size());
    if (rewrite) rewrite(*aggregation, text);
    auto [it, is_new] = aggregation->rows.try_emplace(std::move(text));
    MergedRow& row = it->second;
    if (is_new) row = {aggregation, it->first, std::vector<uint64_t>(aggregation->words, aggregation->initial)};
    function_of(*aggregation).merge(row.state, state);
  });
  buffer.clear();
}

void Aggregations::clear(uint32_t id) {
  if (MergedAggregation* aggregation = find(id))
    for (auto& [key, row] : aggregation->rows) row.state.assign(row.state.size(), aggregation->initial);
}

void Aggregations::trunc(uint32_t id, int64_t count) {
  MergedAggregation* aggregation = find(id);
  if (aggregation == nullptr) return;
  SortOrder order;
  order.reversed = count > 0;
  std::vector<const MergedRow*> rows = count == 0 ? std::vector<const MergedRow*>() : sorted(id, order);
  uint64_t keep = count < 0 ? 0 - static_cast<uint64_t>(count) : static_cast<uint64_t>(count);
  if (count != 0 && rows.size() <= keep) return;
  rows.resize(keep);
  std::vector<std::string> kept;
  for (const MergedRow* row : rows) kept.push_back(row->key);
  std::sort(kept.begin(), kept.end());
  std::erase_if(aggregation->rows, [&](const auto& row) { return !std::binary_search(kept.begin(), kept.end(), row.first); });
}

void Aggregations::normalize(uint32_t id, int64_t normal) {
  if (MergedAggregation* aggregation = find(id)) aggregation->normal = normal;
}

std::vector<const MergedRow*> Aggregations::sorted(uint32_t id, const SortOrder& order) {
  std::vector<const MergedRow*> rows;
  if (MergedAggregation* aggregation = find(id))
    for (auto& [key, row] : aggregation->rows) rows.push_back(&row);
  sort_rows(rows, order.reversed, [&](const MergedRow* a, const MergedRow* b) { return compare_rows(*a, *b, order); });
  return rows;
}

// Reversed, dtrace turns the order of the aggregations about too.
std::vector<uint32_t> Aggregations::unprinted(const SortOrder& order) const {
  std::vector<uint32_t> ids;
  for (const MergedAggregation& aggregation : all_)
    if (!aggregation.is_printed) ids.push_back(aggregation.desc.id);
  std::sort(ids.begin(), ids.end());
  if (order.reversed) std::reverse(ids.begin(), ids.end());
  return ids;
}

std::vector<JoinedRow> Aggregations::joined(std::span<const uint32_t> ids, const SortOrder& order) {
  std::unordered_map<std::string, JoinedRow> by_key;
  for (size_t i = 0; i < ids.size(); i++) {
    MergedAggregation* aggregation = find(ids[i]);
    if (aggregation == nullptr) continue;
    for (auto& [key, row] : aggregation->rows) {
      JoinedRow& joined = by_key[key];
      joined.rows.resize(ids.size());
      joined.rows[i] = &row;
    }
  }
  std::vector<JoinedRow> rows;
  for (auto& [key, row] : by_key) rows.push_back(std::move(row));
  sort_rows(rows, order.reversed, [&](const JoinedRow& a, const JoinedRow& b) { return compare_joined(a, b, order); });
  return rows;
}

// A stack as a key: the pid, the program counters and a zero.
static size_t stack_bytes(std::span<const std::byte> key) {
  size_t at = 8;
  for (uint64_t word = 1; word != 0 && at + 8 <= key.size(); at += 8) std::memcpy(&word, key.data() + at, 8);
  return at;
}

std::vector<Datum> keys_of(const MergedRow& row) {
  std::vector<Datum> keys;
  const auto* at = reinterpret_cast<const std::byte*>(row.key.data());
  const std::byte* end = at + row.key.size();
  const dif::AggregationDesc& desc = row.aggregation->desc;
  for (size_t i = 0; i < desc.keys.size(); i++) {
    const dif::DataType& type = desc.keys[i];
    const dif::Action maker = i < desc.key_makers.size() ? desc.key_makers[i] : dif::Action::expression;
    auto left = static_cast<size_t>(end - at);
    size_t size = type.size, taken = 8;
    if (dif::is_stack(maker)) size = stack_bytes({at, left});
    if (type.kind == dif::TypeKind::string) {
      size = ::strnlen(row.key.data() + (row.key.size() - left), left);
      taken = (size + 8) & ~size_t{7};
    } else if (type.kind == dif::TypeKind::bytes) {
      taken = (size + 7) & ~size_t{7};
    }
    keys.push_back({&type, {at, std::min(size, left)}, maker});
    at += std::min(taken, left);
  }
  return keys;
}

void append_value(std::string& out, const ValueStyle& style, const MergedAggregation& aggregation, const MergedRow* row) {
  std::vector<uint64_t> none = row ? std::vector<uint64_t>() : zeros(aggregation);
  function_of(aggregation).print(out, style, aggregation, row ? State(row->state) : State(none));
}

}  // namespace dvm::runtime
