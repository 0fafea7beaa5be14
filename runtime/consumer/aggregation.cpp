// Merging, sorting and printing by function. Tested by tests/unit/runtime/aggregation_test.cpp.

#include "runtime/consumer/aggregation.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/consumer/floating.h"
#include "runtime/probe/aggregate.h"

namespace dvm::runtime {
namespace {

using AggregationState = std::span<const uint64_t>;
__extension__ using Wide = unsigned __int128;

template <class T>
int order_of(T a, T b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
int64_t as_signed(uint64_t word) { return static_cast<int64_t>(word); }

// merge_<name>: adds a snapshot's state to the merged one.

void add_words(std::span<uint64_t> into, AggregationState from) {
  for (size_t i = 0; i < into.size(); i++) into[i] += from[i];
}
void merge_count(std::span<uint64_t> into, AggregationState from) { add_words(into, from); }
void merge_sum(std::span<uint64_t> into, AggregationState from) { add_words(into, from); }
void merge_avg(std::span<uint64_t> into, AggregationState from) { add_words(into, from); }
void merge_quantize(std::span<uint64_t> into, AggregationState from) { add_words(into, from); }
void merge_lquantize(std::span<uint64_t> into, AggregationState from) { add_words(into, from); }
void merge_llquantize(std::span<uint64_t> into, AggregationState from) { add_words(into, from); }
void merge_min(std::span<uint64_t> into, AggregationState from) {
  if (as_signed(from[0]) < as_signed(into[0])) into[0] = from[0];
}
void merge_max(std::span<uint64_t> into, AggregationState from) {
  if (as_signed(from[0]) > as_signed(into[0])) into[0] = from[0];
}
void merge_stddev(std::span<uint64_t> into, AggregationState from) {
  Wide squares = (static_cast<Wide>(into[3]) << 64 | into[2]) + (static_cast<Wide>(from[3]) << 64 | from[2]);
  into[0] += from[0];
  into[1] += from[1];
  into[2] = static_cast<uint64_t>(squares);
  into[3] = static_cast<uint64_t>(squares >> 64);
}

// The number to print, for the functions that have one.

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

int64_t number_count(AggregationState state, int64_t normal) { return normalized(as_signed(state[0]), normal); }
int64_t number_sum(AggregationState state, int64_t normal) { return number_count(state, normal); }
int64_t number_min(AggregationState state, int64_t normal) { return number_count(state, normal); }
int64_t number_max(AggregationState state, int64_t normal) { return number_count(state, normal); }
int64_t number_avg(AggregationState state, int64_t normal) {
  return state[0] == 0 ? 0 : normalized(normalized(as_signed(state[1]), normal), as_signed(state[0]));
}
// The root of the mean of the squares less the square of the mean, all in integers.
int64_t number_stddev(AggregationState state, int64_t normal) {
  if (state[0] == 0) return 0;
  Wide squares = static_cast<Wide>(state[3]) << 64 | state[2];
  uint64_t divisor = normal == 0 ? 1 : static_cast<uint64_t>(normal < 0 ? -normal : normal);
  Wide mean_of_squares = squares / divisor / divisor / state[0];
  Wide square_of_mean = square(number_avg(state, normal));
  return mean_of_squares < square_of_mean ? 0 : static_cast<int64_t>(square_root(mean_of_squares - square_of_mean));
}

// weight_<name>: what a value is sorted by. A long double holds every 64-bit integer.

struct Weight {
  long double total = 0;
  int64_t zeros = 0;  // decides between equal distributions
};
int order_of(const Weight& a, const Weight& b) {
  const int order = order_of(a.total, b.total);
  return order != 0 ? order : order_of(a.zeros, b.zeros);
}

Weight weight_of(int64_t value) { return {static_cast<long double>(value), 0}; }
Weight weight_count(AggregationState state, const MergedAggregation&) { return weight_of(as_signed(state[0])); }
Weight weight_sum(AggregationState state, const MergedAggregation& g) { return weight_count(state, g); }
Weight weight_min(AggregationState state, const MergedAggregation& g) { return weight_count(state, g); }
Weight weight_max(AggregationState state, const MergedAggregation& g) { return weight_count(state, g); }
Weight weight_avg(AggregationState state, const MergedAggregation&) { return weight_of(number_avg(state, 1)); }
Weight weight_stddev(AggregationState state, const MergedAggregation&) { return weight_of(number_stddev(state, 1)); }

// Distributions: the sum of count times bucket, then what is in the bucket around zero.
template <class BucketValue>
long double sum_buckets(AggregationState state, BucketValue value) {
  long double sum = 0;
  for (size_t i = 0; i < state.size(); i++)
    if (state[i] != 0) sum += value(i) * static_cast<long double>(as_signed(state[i]));
  return sum;
}
Weight weight_quantize(AggregationState state, const MergedAggregation&) {
  auto value = [](size_t i) { return static_cast<long double>(quantize_value(static_cast<unsigned>(i))); };
  return {sum_buckets(state, value), as_signed(state[kQuantizeZero])};
}
Weight weight_lquantize(AggregationState state, const MergedAggregation& g) {
  const std::vector<int64_t>& p = g.desc.parameters;
  auto base = static_cast<long double>(p[0]);
  auto step = p.size() > 2 ? static_cast<long double>(p[2]) : 1;
  const auto value = [&](size_t i) {
    const long double end = i + 1 == state.size() ? 1 : 0;  // what overflows weighs the limit and 1
    return i == 0 ? base - 1 : base + static_cast<long double>(i - 1) * step + end;
  };
  int64_t zeros = 0;
  for (size_t i = state.size(); i-- > 0;)
    if (value(i) == 0) zeros = as_signed(state[i]);
  return {sum_buckets(state, value), zeros};
}
long double llquantize_at(size_t i, const LogLinear& shape) {
  size_t zero = shape.zero_bucket();
  size_t distance = i > zero ? i - zero : zero - i;
  if (distance == 0) return 0;
  auto per = static_cast<size_t>(shape.per_magnitude());
  auto bottom = static_cast<long double>(shape.power(shape.low + static_cast<int64_t>((distance - 1) / per)));
  auto value = bottom * (1 + static_cast<long double>((distance - 1) % per) * static_cast<long double>(shape.factor) /
                                 static_cast<long double>(shape.steps));
  return i > zero ? value : -value;
}
Weight weight_llquantize(AggregationState state, const MergedAggregation& g) {
  const LogLinear shape(g.desc.parameters);
  return {sum_buckets(state, [&](size_t i) { return llquantize_at(i, shape); }), as_signed(state[shape.zero_bucket()])};
}

// print_<name>: by a conversion, or in a column of 16 when there is none.

// Signed, whatever was aggregated: so is the state.
void append_number(std::string& out, const ValueStyle& style, int64_t value) {
  if (style.conversion) return append_converted(out, *style.conversion, value);
  out += ' ';
  append_signed(out, {.width = 16}, value);
}
#define DVM_NUMBER(name)                                                                                             \
  void print_##name(std::string& out, const ValueStyle& style, const MergedAggregation& g, AggregationState state) { \
    append_number(out, style, number_##name(state, g.normal));                                                       \
  }
DVM_NUMBER(count)
DVM_NUMBER(sum)
DVM_NUMBER(min)
DVM_NUMBER(max)
DVM_NUMBER(avg)
DVM_NUMBER(stddev)
#undef DVM_NUMBER
void print_quantize(std::string& out, const ValueStyle& style, const MergedAggregation& g, AggregationState state) {
  append_quantize(out, state, g.normal, style.bars);
}
void print_lquantize(std::string& out, const ValueStyle& style, const MergedAggregation& g, AggregationState state) {
  append_lquantize(out, state, g.desc.parameters, g.normal, style.bars);
}
void print_llquantize(std::string& out, const ValueStyle& style, const MergedAggregation& g, AggregationState state) {
  append_llquantize(out, state, g.desc.parameters, g.normal, style.bars);
}

}  // namespace

struct FunctionRow {
  dif::Action id;
  void (*merge)(std::span<uint64_t>, AggregationState);
  Weight (*weight)(AggregationState, const MergedAggregation&);
  void (*print)(std::string&, const ValueStyle&, const MergedAggregation&, AggregationState);
};

namespace {

constexpr FunctionRow kFunctions[] = {
#define DVM_AGGREGATION(number, name, arguments, words, histogram, text) \
  {dif::Action::agg_##name, merge_##name, weight_##name, print_##name},
#include "vm/dif/aggregations.def"
};

const FunctionRow* function_of(dif::Action id) {
  for (const FunctionRow& row : kFunctions)
    if (row.id == id) return &row;
  return kFunctions;
}

int compare_key(const Datum& a, const Datum& b) {
  if (is_floating(*a.type)) return order_of(floating_value(a.bytes), floating_value(b.bytes));
  if (a.is_integer()) return order_of(a.unsigned_value(), b.unsigned_value());
  size_t both = std::min(a.bytes.size(), b.bytes.size());
  int order = std::memcmp(a.bytes.data(), b.bytes.data(), both);
  return order != 0 ? order : order_of(a.bytes.size(), b.bytes.size());
}

// Keys number `first` up to `end`.
int compare_keys(const MergedRow& a, const MergedRow& b, size_t first, size_t end) {
  KeyReader left(a.aggregation->desc, a.key), right(b.aggregation->desc, b.key);
  for (size_t i = 0; i < end && !left.at_end() && !right.at_end(); i++) {
    const Datum of_left = left.next(), of_right = right.next();
    if (i < first) continue;
    if (int order = compare_key(of_left, of_right)) return order;
  }
  return 0;
}

// From a position on, then those before it.
int compare_keys(const MergedRow& a, const MergedRow& b, size_t position) {
  size_t count = std::min(a.aggregation->desc.keys.size(), b.aggregation->desc.keys.size());
  if (position >= count) position = 0;
  int order = compare_keys(a, b, position, count);
  return order != 0 || position == 0 ? order : compare_keys(a, b, 0, position);
}

// A row that is not there weighs, and prints, as a state of zeros.
std::vector<uint64_t> zeros(const MergedAggregation& aggregation) { return std::vector<uint64_t>(aggregation.words, 0); }

Weight weigh(const MergedRow* row, const MergedAggregation& aggregation) {
  return aggregation.function->weight(row ? AggregationState(row->state) : AggregationState(zeros(aggregation)), aggregation);
}

}  // namespace

int compare_values(const MergedRow* a, const MergedRow* b) {
  if (a == nullptr && b == nullptr) return 0;
  const MergedAggregation& aggregation = *(a ? a : b)->aggregation;
  return order_of(weigh(a, aggregation), weigh(b, aggregation));
}

namespace {

// A line with what it is mostly sorted by.
struct WeighedLine {
  Weight weight;
  JoinedRow line;
};

// The column that lines are sorted by.
size_t first_column(const SortOrder& order, size_t columns) { return order.value_position < columns ? order.value_position : 0; }

// By the columns from the first one on, then by those before it, as dtrace does.
int compare_lines(const WeighedLine& a, const WeighedLine& b, const SortOrder& order) {
  const MergedRow &left = a.line.any(), &right = b.line.any();
  int by_key = order.by_key ? compare_keys(left, right, order.key_position) : 0;
  if (by_key != 0) return by_key;
  if (int by_value = order_of(a.weight, b.weight)) return by_value;
  const size_t columns = a.line.rows.size(), first = first_column(order, columns);
  for (size_t i = 1; i < columns; i++) {
    const size_t column = (first + i) % columns;
    if (int by_value = compare_values(a.line.rows[column], b.line.rows[column])) return by_value;
  }
  return order.by_key ? 0 : compare_keys(left, right, order.key_position);
}

// Orders lines.
auto is_before(const SortOrder& order) {
  return [&order](const WeighedLine& a, const WeighedLine& b) {
    return order.reversed ? compare_lines(b, a, order) < 0 : compare_lines(a, b, order) < 0;
  };
}

bool is_zero(const MergedRow* row) {
  if (row == nullptr) return true;
  if (!dif::find_aggregation(row->aggregation->desc.function)->histogram) return compare_values(row, nullptr) == 0;
  return std::all_of(row->state.begin(), row->state.end(), [](uint64_t word) { return word == 0; });
}
bool is_zero_line(const JoinedRow& line) { return std::all_of(line.rows.begin(), line.rows.end(), is_zero); }

// The aggregation of a column, which some line has.
const MergedAggregation* aggregation_of(std::span<const JoinedRow> lines, size_t column) {
  for (const JoinedRow& line : lines)
    if (line.rows[column]) return line.rows[column]->aggregation;
  return nullptr;
}

std::vector<WeighedLine> weigh_lines(std::span<const JoinedRow> lines, const SortOrder& order) {
  std::vector<WeighedLine> weighed;
  weighed.reserve(lines.size());
  const size_t columns = lines.empty() ? 0 : lines.front().rows.size();
  const size_t column = first_column(order, columns);
  const MergedAggregation* aggregation = columns ? aggregation_of(lines, column) : nullptr;
  for (const JoinedRow& line : lines) weighed.push_back({aggregation ? weigh(line.rows[column], *aggregation) : Weight{}, line});
  return weighed;
}

}  // namespace

const MergedRow& JoinedRow::any() const {
  return **std::find_if(rows.begin(), rows.end(), [](const MergedRow* r) { return r; });
}

SortOrder::SortOrder(const dif::Options& options)
    : by_key(options[dif::Option::aggsortkey] > 0),
      reversed(options[dif::Option::aggsortrev] > 0),
      skips_zero(options[dif::Option::aggskipzero] > 0),
      key_position(static_cast<size_t>(std::max<int64_t>(options[dif::Option::aggsortkeypos], 0))),
      value_position(static_cast<size_t>(std::max<int64_t>(options[dif::Option::aggsortpos], 0))) {}

void define(MergedAggregation& aggregation, const dif::AggregationDesc& desc, unsigned words, uint64_t initial) {
  aggregation.desc = desc;
  aggregation.words = words;
  aggregation.initial = initial;
  aggregation.function = function_of(desc.function);
}

namespace {

MergedRow& merge(const MergedAggregation& of, RowTable& into, std::string_view key, std::span<const uint64_t> words) {
  MergedRow& row = into.find_or_add(of, key, of.words, of.initial);
  of.function->merge(row.state, words);
  return row;
}

void reset(RowTable& rows, uint64_t initial) {
  for (MergedRow* row : rows.rows()) std::fill(row->state.begin(), row->state.end(), initial);
}

// Only rows stay that the whole has.
void keep_keys(RowTable& rows, const RowTable& whole) {
  std::vector<const MergedRow*> kept;
  std::copy_if(rows.rows().begin(), rows.rows().end(), std::back_inserter(kept),
               [&](const MergedRow* row) { return whole.find(row->key) != nullptr; });
  rows.keep_only(kept);
}

}  // namespace

MergedRow& merge(MergedAggregation& into, std::string_view key, std::span<const uint64_t> words) {
  return merge(into, into.rows, key, words);
}

// Its first clause may be enabled late, and says how keys are made.
void Aggregations::declare(const dif::AggregationDesc& desc, unsigned words, uint64_t initial) {
  if (MergedAggregation* known = find(desc.id)) return static_cast<void>(known->desc = desc);
  MergedAggregation& added = all_.emplace_back();
  define(added, desc, words, initial);
  by_id_[desc.id] = &added;
}

MergedAggregation* Aggregations::find(uint32_t id) {
  auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : it->second;
}

size_t Aggregations::take(AggregationSource& source, const RewriteKey& rewrite) {
  size_t keys = 0;
  MergedAggregation* aggregation = nullptr;
  std::string rewritten;
  source.visit([&](const AggregationEntry& entry) {
    if (aggregation == nullptr || aggregation->desc.id != entry.aggregation) aggregation = find(entry.aggregation);
    if (aggregation == nullptr) return;
    std::string_view key(reinterpret_cast<const char*>(entry.key.data()), entry.key.size());
    if (rewrite) {
      rewritten = key;
      rewrite(*aggregation, rewritten);
      key = rewritten;
    }
    merge(*aggregation, key, entry.words);
    if (entry.cpu != AggregationEntry::kAllCpus) merge(*aggregation, aggregation->by_cpu[entry.cpu], key, entry.words);
    keys++;
  });
  source.clear();
  return keys;
}

void Aggregations::clear(uint32_t id) {
  MergedAggregation* aggregation = find(id);
  if (aggregation == nullptr) return;
  aggregation->clears++;
  reset(aggregation->rows, aggregation->initial);
  for (auto& [cpu, rows] : aggregation->by_cpu) reset(rows, aggregation->initial);
}

void Aggregations::trunc(uint32_t id, int64_t count) {
  MergedAggregation* aggregation = find(id);
  if (aggregation == nullptr) return;
  const uint64_t keep = count < 0 ? 0 - static_cast<uint64_t>(count) : static_cast<uint64_t>(count);
  if (count != 0 && aggregation->rows.size() <= keep) return;
  SortOrder order;
  order.reversed = count > 0;
  const JoinedRows all = join({&id, 1});
  std::vector<WeighedLine> lines = weigh_lines(all.lines_, order);
  std::nth_element(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(keep), lines.end(), is_before(order));
  std::vector<const MergedRow*> kept;
  for (size_t i = 0; i < keep; i++) kept.push_back(lines[i].line.rows.front());
  aggregation->rows.keep_only(kept);
  for (auto& [cpu, rows] : aggregation->by_cpu) keep_keys(rows, aggregation->rows);
  aggregation->clears++;
}

void Aggregations::normalize(uint32_t id, int64_t normal) {
  if (MergedAggregation* aggregation = find(id)) aggregation->normal = normal;
}

std::vector<uint32_t> Aggregations::unprinted(const SortOrder& order) const {
  std::vector<uint32_t> ids;
  for (const MergedAggregation& aggregation : all_)
    if (!aggregation.is_printed) ids.push_back(aggregation.desc.id);
  std::sort(ids.begin(), ids.end());
  if (order.reversed) std::reverse(ids.begin(), ids.end());
  return ids;
}

// A line for each key, in no order.
JoinedRows Aggregations::join(std::span<const uint32_t> ids) {
  JoinedRows joined;
  KeyIndex index;
  size_t lines = 0;
  const size_t width = ids.size();
  for (size_t column = 0; column < width; column++) {
    const MergedAggregation* aggregation = find(ids[column]);
    if (aggregation == nullptr) continue;
    for (const MergedRow* row : aggregation->rows.rows()) {
      auto is_its = [&](uint32_t line) { return JoinedRow{{&joined.cells_[line * width], width}}.any().key == row->key; };
      const uint32_t line =
          width == 1 ? static_cast<uint32_t>(lines) : index.find_or_add(hash_of(row->key), static_cast<uint32_t>(lines), is_its);
      if (line == lines) joined.cells_.resize(++lines * width);
      joined.cells_[line * width + column] = row;
    }
  }
  for (size_t line = 0; line < lines; line++) joined.lines_.push_back({{&joined.cells_[line * width], width}});
  return joined;
}

JoinedRows Aggregations::joined(std::span<const uint32_t> ids, const SortOrder& order) {
  JoinedRows joined = join(ids);
  if (order.skips_zero) std::erase_if(joined.lines_, is_zero_line);
  std::vector<WeighedLine> lines = weigh_lines(joined.lines_, order);
  std::sort(lines.begin(), lines.end(), is_before(order));
  for (size_t i = 0; i < lines.size(); i++) joined.lines_[i] = lines[i].line;
  return joined;
}

std::vector<Datum> keys_of(const MergedRow& row) { return keys_of(row.aggregation->desc, row.key); }

int64_t number_of(const MergedAggregation& aggregation, const MergedRow& row) {
  switch (aggregation.desc.function) {
    case dif::Action::agg_avg:
      return number_avg(row.state, aggregation.normal);
    case dif::Action::agg_stddev:
      return number_stddev(row.state, aggregation.normal);
    default:
      return number_count(row.state, aggregation.normal);
  }
}

void append_value(std::string& out, const ValueStyle& style, const MergedAggregation& aggregation, const MergedRow* row) {
  std::vector<uint64_t> none = row ? std::vector<uint64_t>() : zeros(aggregation);
  aggregation.function->print(out, style, aggregation, row ? AggregationState(row->state) : AggregationState(none));
}

}  // namespace dvm::runtime
