// Tested by tests/unit/runtime/aggregation_metrics_test.cpp and tests/runtime/scenarios/test_prometheus.py.

#include "runtime/consumer/aggregation_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/clock.h"
#include "common/utf8.h"
#include "dvm/dif/action.h"
#include "dvm/dif/variable.h"
#include "runtime/consumer/floating.h"
#include "runtime/consumer/json_value.h"

namespace dvm::runtime {
namespace {

MetricKind kind_of(dif::Action function) {
  switch (function) {
    case dif::Action::agg_count:
      return MetricKind::counter;
    case dif::Action::agg_sum:
      return MetricKind::sum;
    case dif::Action::agg_avg:
      return MetricKind::summary;
    default:
      return dif::find_aggregation(function)->histogram ? MetricKind::histogram : MetricKind::gauge;
  }
}

// The name of the built-in variable that is all of a key; empty: the key is another expression.
std::string variable_name(const dif::Difo& difo) {
  if (difo.text.size() != 2 || !has_format(difo.text[0], dif::Format::ldv)) return "";
  const std::optional<unsigned> id = built_in_of(difo.text[0]);
  const dif::BuiltInInfo* row = id ? dif::find_built_in(*id) : nullptr;
  return row ? std::string(row->name) : "";
}

// The labels of a keyed action: variables by their names, other expressions by their number from 1.
std::vector<std::string> label_names(const dif::ActDesc& action) {
  std::vector<std::string> names;
  for (unsigned i = 0; i < action.key_count; i++) {
    const std::string variable = variable_name(action.args[i].difo);
    const std::string number = fmt::format("{}", i + 1);
    std::string name = variable.empty() ? "key" + number : variable;
    if (std::find(names.begin(), names.end(), name) != names.end()) name += "_" + number;
    names.push_back(std::move(name));
  }
  return names;
}

// Those of the first clause that aggregates there.
std::vector<std::string> label_names(const Enabling& enabling, const dif::AggregationDesc& desc) {
  for (const EcbPlan& plan : enabling.plans())
    for (const dif::ActDesc& action : plan.desc.actions)
      if (dif::find_aggregation(action.kind) && action.key_count == desc.keys.size() && action.aggregations.size() == 1 &&
          action.aggregations[0] == desc.id)
        return label_names(action);
  std::vector<std::string> names;
  for (size_t i = 0; i < desc.keys.size(); i++) names.push_back(fmt::format("key{}", i + 1));
  return names;
}

// A stack in one line, the innermost frame first.
std::string joined_lines(const std::string& text) {
  std::string line;
  for (size_t at = 0; (at = text.find_first_not_of(" \n", at)) != std::string::npos;) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (!line.empty()) line += ';';
    line += text.substr(at, end - at);
    at = end;
  }
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

std::string label_value(const Datum& datum, const MadePrinter& made) {
  if (datum.is_made()) {
    std::string text;
    made.append(text, datum, 0);
    return valid_utf8(joined_lines(text));
  }
  if (datum.is_string()) return valid_utf8(datum.text());
  if (is_floating(*datum.type)) return fmt::format("{:g}", floating_value(datum.bytes));
  if (datum.is_integer() && datum.type->is_signed) return fmt::format("{}", datum.signed_value());
  if (datum.is_integer()) return fmt::format("{}", datum.unsigned_value());
  std::string text;
  for (const std::byte one : datum.bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(one));
  return text;
}

// A key of the table of series: its labels, in a form of its own for each.
std::string series_key(const std::vector<std::string>& labels) {
  std::string key;
  for (const std::string& label : labels) key += fmt::format("{}:{}", label.size(), label);
  key.resize((key.size() + 7) / 8 * 8);
  return key;
}

// The largest value in each bucket but the last, which has none.
std::vector<int64_t> bounds_of(const MergedAggregation& aggregation) {
  std::vector<int64_t> bounds;
  for (size_t i = 0; i + 1 < aggregation.words; i++) bounds.push_back(bucket_of(i, 0, aggregation)["max"].get<int64_t>());
  return bounds;
}

void widen(ExportedBuckets& buckets, std::span<const uint64_t> state) {
  for (size_t i = 0; i < state.size() && i < buckets.first; i++)
    if (state[i] != 0) buckets.first = i > 0 ? i - 1 : 0;
  for (size_t i = state.size(); i-- > buckets.last + 1;)
    if (state[i] != 0) buckets.last = i;
}

// False for a row that only clear() has left.
bool has_values(const MergedAggregation& aggregation, const MergedRow& row) {
  switch (kind_of(aggregation.desc.function)) {
    case MetricKind::gauge:
      return row.state[0] != aggregation.initial;
    default:
      return true;
  }
}

bool has_negative(const MergedRow& row) {
  return std::any_of(row.state.begin(), row.state.end(), [](uint64_t word) { return static_cast<int64_t>(word) < 0; });
}

Number number(uint64_t word, bool is_signed) { return is_signed ? Number(static_cast<int64_t>(word)) : Number(word); }

// Buckets that no integer falls in have the bound of the one before them.
void add_bucket(Point& point, std::vector<int64_t>& bounds, std::optional<int64_t> bound, uint64_t count) {
  const bool is_same = bound && !bounds.empty() && *bound <= bounds.back();
  if (bound && !is_same) bounds.push_back(*bound);
  if (is_same)
    point.buckets.back() += count;
  else
    point.buckets.push_back(count);
  point.count += count;
}

std::string describe(const dif::AggregationDesc& desc) {
  return fmt::format("@{} = {}()", desc.name, dif::find_aggregation(desc.function)->name);
}

std::vector<int64_t> fill_buckets(Point& point, std::span<const uint64_t> state, std::span<const int64_t> bounds,
                                  const ExportedBuckets& buckets) {
  std::vector<int64_t> its;
  for (size_t i = buckets.first; i <= buckets.last && i < bounds.size(); i++) add_bucket(point, its, bounds[i], state[i]);
  add_bucket(point, its, std::nullopt, buckets.last < bounds.size() ? 0 : state.back());
  return its;
}

void fill(Point& point, const MergedAggregation& aggregation, const MergedRow& row) {
  const bool is_signed = aggregation.desc.value.is_signed;
  switch (aggregation.desc.function) {
    case dif::Action::agg_avg:
      point.count = row.state[0], point.value = number(row.state[1], is_signed);
      return;
    case dif::Action::agg_stddev:
      point.value = number_of(aggregation, row);
      return;
    case dif::Action::agg_count:
      point.value = row.state[0];
      return;
    default:
      point.value = number(row.state[0], is_signed);
  }
}

// Rows with negative counts, which weights below 0 make, are no part of a distribution over time.
MetricTotal shape_of_all(const MergedAggregation& aggregation, std::span<const int64_t> bounds) {
  std::vector<uint64_t> sums(aggregation.words);
  ExportedBuckets buckets;
  for (const MergedRow* row : aggregation.rows.rows()) {
    if (has_negative(*row)) continue;
    widen(buckets, row->state);
    for (size_t i = 0; i < sums.size(); i++) sums[i] += row->state[i];
  }
  if (buckets.first == SIZE_MAX) buckets.first = 0;  // all are empty
  Point point;
  MetricTotal total;
  total.bounds = fill_buckets(point, sums, bounds, buckets);
  total.value = static_cast<double>(point.count);
  total.buckets = std::move(point.buckets);
  return total;
}

MetricTotal total_of(const MergedAggregation& aggregation, std::span<const int64_t> bounds) {
  const MetricKind kind = kind_of(aggregation.desc.function);
  if (kind == MetricKind::histogram) return shape_of_all(aggregation, bounds);
  MetricTotal total;
  if (kind == MetricKind::gauge) return total;
  const bool is_signed = kind == MetricKind::sum && aggregation.desc.value.is_signed;
  for (const MergedRow* row : aggregation.rows.rows())  // a mean begins with the number of its values
    total.value += is_signed ? static_cast<double>(static_cast<int64_t>(row->state[0])) : static_cast<double>(row->state[0]);
  return total;
}

}  // namespace

Metric metric_of(const MergedAggregation& aggregation, std::span<const MergedRow* const> rows,
                 std::span<const std::shared_ptr<const std::vector<std::string>>> labels) {
  Metric metric = labelled_metric("", describe(aggregation.desc), kind_of(aggregation.desc.function), {});
  metric.is_aggregation = true;
  metric.is_quantize = aggregation.desc.function == dif::Action::agg_quantize;
  metric.normal = aggregation.normal != 0 ? aggregation.normal : 1;
  MergedAggregation plain;  // without the divisor, and with a sign
  define(plain, aggregation.desc, aggregation.words, aggregation.initial);
  plain.desc.value.is_signed = true;
  const bool is_shape = metric.kind == MetricKind::histogram;
  const std::vector<int64_t> bounds = is_shape ? bounds_of(plain) : std::vector<int64_t>();
  ExportedBuckets buckets;
  for (const MergedRow* row : rows)
    if (is_shape) widen(buckets, row->state);
  if (buckets.first == SIZE_MAX) buckets.first = 0;  // all are empty
  for (size_t i = 0; i < rows.size(); i++) {
    Point& point = metric.points.emplace_back();
    point.labels = labels[i];
    if (is_shape)
      metric.bounds = fill_buckets(point, rows[i]->state, bounds, buckets);
    else
      fill(point, plain, *rows[i]);
  }
  return metric;
}

AggregationMetrics::Known& AggregationMetrics::know(const MergedAggregation& aggregation, uint64_t now) {
  const auto [it, is_new] = known_.try_emplace(aggregation.desc.id);
  Known& known = it->second;
  if (is_new) {
    known.since = now;
    known.clears = aggregation.clears;
    known.labels = label_names(enabling_, aggregation.desc);
    if (kind_of(aggregation.desc.function) == MetricKind::histogram) known.bounds = bounds_of(aggregation);
    const std::string name = aggregation.desc.name.empty() ? "agg" : "agg_" + aggregation.desc.name;
    known.name = name;
    const auto has_name = [&](const auto& other) { return &other.second != &known && other.second.name == known.name; };
    for (int i = 2; std::any_of(known_.begin(), known_.end(), has_name); i++) known.name = fmt::format("{}_{}", name, i);
  }
  if (known.clears != aggregation.clears) known.clears = aggregation.clears, known.since = last_;
  return known;
}

// The first new key of a snapshot is always named, however long that takes.
bool AggregationMetrics::may_name() {
  if (naming_ends_ == UINT64_MAX) return true;
  const uint64_t now = read_clock(CLOCK_MONOTONIC);
  if (naming_ends_ == 0) naming_ends_ = now + kNamingTime;
  return now < naming_ends_;
}

const AggregationMetrics::Series* AggregationMetrics::series_of(Known& known, const MergedRow& row) {
  if (known.series.size() > 2 * static_cast<size_t>(options_[dif::Option::maxseries])) known.series.clear();
  const std::string key(row.key);
  if (const auto found = known.series.find(key); found != known.series.end()) return &found->second;
  const std::vector<Datum> data = keys_of(row);
  const bool has_names = std::any_of(data.begin(), data.end(), [](const Datum& datum) { return datum.is_made(); });
  if (has_names && !may_name()) return nullptr;
  std::vector<std::string> values;
  for (const Datum& datum : data) values.push_back(label_value(datum, made_));
  Series& series = known.series[key];
  series.own = series_key(values);
  series.labels = std::make_shared<const std::vector<std::string>>(std::move(values));
  return &series;
}

// At most as many rows are looked at as series may be made of them.
AggregationMetrics::LeftOut AggregationMetrics::add_points(Metric& metric, Known& known, const MergedAggregation& aggregation) {
  const auto limit = static_cast<size_t>(options_[dif::Option::maxseries]);
  const std::span<MergedRow* const> rows = aggregation.rows.rows();
  LeftOut left;
  MergedAggregation series;
  define(series, aggregation.desc, aggregation.words, aggregation.initial);
  std::vector<Labels> labels;
  size_t looked_at = 0, per_series = metric.kind == MetricKind::summary ? 2 : 1;
  for (; looked_at < rows.size() && looked_at < limit; looked_at++) {
    const MergedRow& row = *rows[looked_at];
    if (!has_values(aggregation, row)) continue;
    if (metric.kind == MetricKind::histogram) {
      if (has_negative(row) && ++left.negative) continue;
      ExportedBuckets wider = known.buckets;
      widen(wider, row.state);
      if (wider.first != SIZE_MAX) per_series = wider.last - wider.first + 3;  // with those of +Inf and the number
      if ((labels.size() + 1) * per_series > limit) break;
      known.buckets = wider;
    }
    if ((labels.size() + 1) * per_series > limit) break;
    const Series* its = series_of(known, row);
    if (its == nullptr && ++left.unnamed) continue;
    const size_t before = series.rows.size();
    merge(series, its->own, row.state);
    if (series.rows.size() > before) labels.push_back(its->labels);
  }
  left.over_limit = rows.size() - looked_at;
  metric.points.reserve(labels.size());
  for (size_t i = 0; i < labels.size(); i++) {
    const MergedRow& row = *series.rows.rows()[i];
    Point& point = metric.points.emplace_back();
    point.labels = labels[i];
    if (metric.kind == MetricKind::histogram)
      metric.bounds = fill_buckets(point, row.state, known.bounds, known.buckets);
    else
      fill(point, series, row);
  }
  return left;
}

void AggregationMetrics::add(Aggregations& aggregations, Snapshot& snapshot, const SnapshotParts& parts) {
  naming_ends_ = parts.is_last ? UINT64_MAX : 0;
  Metric keys = labelled_metric("aggregation_keys", "Keys of the aggregation", MetricKind::gauge, {"aggregation"});
  Metric left = labelled_metric("aggregation_keys_left_out", "Keys of the aggregation that are not exported", MetricKind::gauge,
                                {"aggregation", "reason"});
  for (const EnabledAggregation& one : enabling_.aggregations()) {
    const MergedAggregation* aggregation = aggregations.find(one.desc.id);
    if (aggregation == nullptr) continue;
    Known& known = know(*aggregation, snapshot.time);
    Metric metric = labelled_metric(known.name, describe(one.desc), kind_of(one.desc.function), known.labels);
    metric.since = known.since;
    metric.is_aggregation = true;
    metric.is_quantize = one.desc.function == dif::Action::agg_quantize;
    metric.normal = aggregation->normal != 0 ? aggregation->normal : 1;
    if (parts.totals) metric.total = total_of(*aggregation, known.bounds);
    const LeftOut its = parts.points ? add_points(metric, known, *aggregation) : LeftOut();
    add_point(keys, {known.name}, static_cast<uint64_t>(aggregation->rows.size()));
    add_point(left, {known.name, "maxseries"}, its.over_limit);
    if (its.unnamed > 0) add_point(left, {known.name, "unnamed"}, its.unnamed);
    if (metric.kind == MetricKind::histogram) add_point(left, {known.name, "negative"}, its.negative);
    snapshot.metrics.push_back(std::move(metric));
  }
  if (!keys.points.empty()) snapshot.metrics.push_back(std::move(keys)), snapshot.metrics.push_back(std::move(left));
  last_ = snapshot.time;
}

}  // namespace dvm::runtime
