// Tested by tests/unit/export/live_view_test.cpp.

#include "export/live_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "common/printable.h"

namespace dvm::exporting {
namespace {

using runtime::as_double;
using runtime::Metric;
using runtime::MetricKind;
using runtime::Number;
using runtime::Point;

constexpr size_t kWide = 60, kMedium = 32;  // columns from which on there is room for whole numbers, and for growth
constexpr size_t kSparks = 24;

// In at most six columns.
std::string short_number(double value) {
  constexpr std::string_view kUnits[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t unit = 0;
  while (std::abs(value) >= 999.5 && unit + 1 < std::size(kUnits)) value /= 1000, unit++;
  const bool is_whole = (unit == 0 && value == std::floor(value)) || std::abs(value) >= 99.5;
  return fmt::format("{:.{}f}{}", value, is_whole ? 0 : 1, kUnits[unit]);
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Columns of a text in UTF-8, one a character: the terminal cuts lines with wider ones.
size_t width_of(std::string_view text) {
  return text.size() - static_cast<size_t>(std::count_if(text.begin(), text.end(), is_continuation));
}

// Cut or filled to a width.
std::string fitted(std::string text, size_t width) {
  size_t end = 0, columns = 0;
  for (; end < text.size() && (columns < width || is_continuation(text[end])); end++) columns += !is_continuation(text[end]);
  text.resize(end);
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

std::string keys_text(const Point& point) {
  std::string text;
  if (point.labels)
    for (const std::string& label : *point.labels) text += (text.empty() ? "" : "  ") + label;
  return printable(text);
}

// The number that grows with every value; none: of extremes.
std::optional<double> growing(MetricKind kind, const Point& point) {
  switch (kind) {
    case MetricKind::counter:
    case MetricKind::sum:
      return as_double(point.value);
    case MetricKind::gauge:
      return std::nullopt;
    default:
      return static_cast<double>(point.count);
  }
}

double shown(const Metric& metric, const Point& point) {
  const auto normal = static_cast<double>(metric.normal);
  if (metric.kind == MetricKind::summary)
    return point.count == 0 ? 0 : as_double(point.value) / static_cast<double>(point.count) / normal;
  return as_double(runtime::normalized(metric.kind == MetricKind::histogram ? Number(point.count) : point.value, metric.normal));
}

// The keys take what is left.
std::string line_of(std::string_view keys, const std::string& value, const std::string& growth, const std::string& shape,
                    size_t columns) {
  std::string right = columns >= kWide ? fmt::format(" {:>16}", value) : fmt::format(" {:>6}", value);
  if (columns >= kMedium) right += fmt::format(" {:>9}", growth);
  if (!shape.empty()) right += " " + shape;
  const size_t width = width_of(right), least = columns / 3;
  return fitted(fitted(std::string(keys), columns > width + least ? columns - width : least) + right, columns);
}

// The last two are keys that the drawing does not know; they may be larger than those that it shows.
std::string more_text(uint64_t keys, uint64_t unnamed, uint64_t over_limit) {
  std::string text = fmt::format("... {} more", keys);
  if (unnamed > 0) text += fmt::format(", {} not named yet", unnamed);
  return over_limit == 0 ? text : fmt::format("{}, {} beyond maxseries", text, over_limit);
}

// Lines for each table: those that want few get them, the others share the rest.
std::vector<size_t> shares(const std::vector<size_t>& wanted, size_t lines) {
  std::vector<size_t> order(wanted.size()), given(wanted.size());
  for (size_t i = 0; i < order.size(); i++) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return wanted[a] < wanted[b]; });
  size_t left = order.size();
  for (const size_t i : order) {
    given[i] = std::min(wanted[i], lines / left--);
    lines -= given[i];
  }
  return given;
}

// The value of a metric on an aggregation; none if the snapshot has not got it. `reason`: its second label, if not empty.
std::optional<uint64_t> value_of(const runtime::Snapshot& snapshot, std::string_view name, const Metric& aggregation,
                                 std::string_view reason) {
  for (const Metric& metric : snapshot.metrics)
    if (metric.name == name)
      for (const Point& point : metric.points)
        if (point.labels->front() == aggregation.name && (reason.empty() || point.labels->back() == reason))
          return static_cast<uint64_t>(as_double(point.value));
  return std::nullopt;
}

}  // namespace

std::string sparkline(std::span<const uint64_t> counts, size_t most) {
  constexpr std::string_view kHeights[] = {"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
  if (counts.empty() || most == 0) return "";
  const size_t group = (counts.size() + most - 1) / most;
  std::vector<double> sums((counts.size() + group - 1) / group);
  for (size_t i = 0; i < counts.size(); i++) sums[i / group] += static_cast<double>(counts[i]);
  const double largest = *std::max_element(sums.begin(), sums.end());
  std::string text;
  for (const double sum : sums) text += sum > 0 ? kHeights[std::min<size_t>(static_cast<size_t>(sum / largest * 8), 7)] : " ";
  return text;
}

LiveView::Table LiveView::table(const Metric& metric, double seconds) {
  Table table{metric.help, metric.kind, {}, 0, 0};
  const auto known = before_.find(metric.name);
  std::unordered_map<std::string, double> now;
  for (const Point& point : metric.points) {
    KeyLine row{keys_text(point), shown(metric, point), static_cast<double>(point.count), {}, point.buckets};
    if (const std::optional<double> value = growing(metric.kind, point)) {
      if (known != before_.end() && seconds > 0) {
        const auto found = known->second.find(row.keys);
        const double before = found == known->second.end() ? 0 : found->second;
        const bool is_cleared = metric.kind != MetricKind::sum && *value < before;
        row.growth = (*value - (is_cleared ? 0 : before)) / seconds / static_cast<double>(metric.normal);
      }
      now[row.keys] = *value;
    }
    table.rows.push_back(std::move(row));
  }
  before_[metric.name] = std::move(now);
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const KeyLine& a, const KeyLine& b) { return a.value > b.value; });
  return table;
}

void LiveView::take(const runtime::Snapshot& snapshot) {
  if (began_ == 0) began_ = snapshot.time;
  const double seconds = taken_ == 0 ? 0 : static_cast<double>(snapshot.time - taken_) / 1e9;
  taken_ = snapshot.time;
  tables_.clear();
  for (const Metric& metric : snapshot.metrics) {
    if (!metric.is_aggregation) continue;
    tables_.push_back(table(metric, seconds));
    Table& table = tables_.back();
    table.keys = std::max<uint64_t>(value_of(snapshot, "aggregation_keys", metric, "").value_or(0), table.rows.size());
    table.unnamed = value_of(snapshot, "aggregation_keys_left_out", metric, "unnamed").value_or(0);
  }
}

void LiveView::draw(const Table& table, size_t lines, size_t columns, std::vector<std::string>& into) {
  if (lines == 0) return;
  const bool is_shape = table.kind == MetricKind::histogram;
  const auto shape_of = [&](const KeyLine& row) {
    return is_shape ? sparkline(row.buckets, std::min(columns / 4, kSparks)) : "";
  };
  const std::string blank(table.rows.empty() ? 0 : width_of(shape_of(table.rows.front())), ' ');  // all have as many buckets
  into.push_back(line_of(table.title, is_shape ? "values" : "value", "per s", blank, columns));
  const size_t room = lines - 1, fit = std::min<size_t>(table.rows.size(), room);
  const bool is_cut = fit < table.keys && room > 0;
  const size_t shown = is_cut && fit == room ? fit - 1 : fit;
  for (size_t i = 0; i < shown; i++) {
    const KeyLine& row = table.rows[i];
    const std::string value = columns >= kWide ? fmt::format("{:.0f}", row.value) : short_number(row.value);
    into.push_back(line_of(row.keys, value, row.growth ? short_number(*row.growth) : "", shape_of(row), columns));
  }
  const uint64_t unknown = table.keys - table.rows.size(), unnamed = std::min(table.unnamed, unknown);
  if (is_cut) into.push_back(fitted(more_text(table.keys - shown, unnamed, unknown - unnamed), columns));
}

std::vector<std::string> LiveView::draw(ScreenSize size) const {
  std::vector<std::string> lines;
  if (taken_ == 0 || size.rows == 0 || size.columns == 0) return lines;
  std::vector<size_t> wanted;
  for (const Table& one : tables_) wanted.push_back(1 + one.rows.size() + (one.keys > one.rows.size() ? 1 : 0));
  const std::vector<size_t> given = shares(wanted, size.rows - 1);
  std::string hint = tables_.empty() ? "  there is no aggregation yet" : "  ^C ends";
  if (const auto hidden = std::count(given.begin(), given.end(), 0U); hidden > 0)
    hint = fmt::format("  {} hidden{}", hidden, hint);
  lines.push_back(fitted(fmt::format("{:.0f} s{}", static_cast<double>(taken_ - began_) / 1e9, hint), size.columns));
  for (size_t i = 0; i < tables_.size(); i++) draw(tables_[i], given[i], size.columns, lines);
  return lines;
}

}  // namespace dvm::exporting
