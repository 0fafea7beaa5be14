// Tested by tests/unit/view/history_test.cpp.

#include "view/history.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace dvm::view {
namespace {

using runtime::Metric;
using runtime::MetricKind;

constexpr int64_t kLast = std::numeric_limits<int64_t>::max();  // stands for the bucket without a bound
using Buckets = std::map<int64_t, uint64_t>;

Buckets buckets_of(const runtime::MetricTotal& total) {
  Buckets sums;
  for (size_t i = 0; i < total.buckets.size(); i++)
    if (total.buckets[i] != 0) sums[i < total.bounds.size() ? total.bounds[i] : kLast] += total.buckets[i];
  return sums;
}

// What came since; after a clear() that is all there is.
Buckets difference(const Buckets& now, const Buckets& before) {
  const auto shrank = [&](const auto& each) {
    const auto found = now.find(each.first);
    return found == now.end() || found->second < each.second;
  };
  if (std::any_of(before.begin(), before.end(), shrank)) return now;
  Buckets grown;
  for (const auto& [bound, count] : now) {
    const auto found = before.find(bound);
    const uint64_t more = count - (found == before.end() ? 0 : found->second);
    if (more != 0) grown[bound] = more;
  }
  return grown;
}

// From the first bucket that has a value to the last, with those between.
std::vector<int64_t> bounds_of(std::set<int64_t> all, const std::vector<Buckets>& cells) {
  std::set<int64_t> filled;
  for (const Buckets& slice : cells)
    for (const auto& [bound, count] : slice) filled.insert(bound);
  if (filled.empty()) return {};
  all.merge(std::set<int64_t>(filled));
  return {all.lower_bound(*filled.begin()), all.upper_bound(*filled.rbegin())};
}

}  // namespace

void History::add(const Metric& metric) {
  Series& series = series_[metric.name];
  series.growth.resize(times_.size());
  series.normal = static_cast<double>(metric.normal);
  const double now = metric.total.value;
  const bool is_cleared = metric.kind != MetricKind::sum && now < series.before;
  if (!times_.empty()) series.growth.back() += now - (is_cleared ? 0 : series.before);
  series.before = now;
  if (metric.kind != MetricKind::histogram) return;
  series.cells.resize(times_.size());
  series.bounds.insert(metric.total.bounds.begin(), metric.total.bounds.end());
  Buckets buckets = buckets_of(metric.total);
  if (!times_.empty())
    for (const auto& [bound, count] : difference(buckets, series.buckets_before)) series.cells.back()[bound] += count;
  series.buckets_before = std::move(buckets);
}

// The last snapshot comes soon after another one: the growth between them, over so little time, is no rate.
bool History::is_soon(uint64_t time) const {
  if (times_.empty()) return false;
  const uint64_t before = times_.size() > 1 ? times_[times_.size() - 2] : begin_;
  return time - times_.back() < (times_.back() - before) / 2;
}

void History::add(const runtime::Snapshot& snapshot) {
  if (begin_ == 0)
    begin_ = snapshot.time;
  else if (is_soon(snapshot.time))
    times_.back() = snapshot.time;
  else
    times_.push_back(snapshot.time);
  for (const Metric& metric : snapshot.metrics)
    if (metric.is_aggregation && metric.kind != MetricKind::gauge) add(metric);
  if (times_.size() > kMostSlices) halve();
}

// Two slices become one. The last of an odd number stays.
void History::halve() {
  const size_t slices = (times_.size() + 1) / 2;
  for (auto& [name, series] : series_) {
    series.growth.resize(times_.size());
    if (!series.cells.empty()) series.cells.resize(times_.size());
    for (size_t i = 0; i < times_.size(); i++) {
      const double growth = std::exchange(series.growth[i], 0);
      series.growth[i / 2] += growth;
      if (series.cells.empty()) continue;
      const Buckets cells = std::exchange(series.cells[i], {});
      for (const auto& [bound, count] : cells) series.cells[i / 2][bound] += count;
    }
    series.growth.resize(slices);
    if (!series.cells.empty()) series.cells.resize(slices);
  }
  for (size_t i = 0; i < times_.size(); i++) times_[i / 2] = times_[i];
  times_.resize(slices);
}

nlohmann::json History::json() const {
  nlohmann::json made = {
      {"times", nlohmann::json::array()}, {"series", nlohmann::json::object()}, {"heat", nlohmann::json::object()}};
  for (const uint64_t time : times_) made["times"].push_back(time - begin_);
  for (const auto& [name, series] : series_) {
    std::vector<double> growth = series.growth;
    growth.resize(times_.size());
    for (double& one : growth) one /= series.normal;
    made["series"][name] = growth;
    if (series.cells.empty()) continue;
    const std::vector<int64_t> bounds = bounds_of(series.bounds, series.cells);
    nlohmann::json heat = {{"bounds", nlohmann::json::array()}, {"cells", nlohmann::json::array()}};
    for (const int64_t bound : bounds) heat["bounds"].push_back(bound == kLast ? nlohmann::json() : nlohmann::json(bound));
    for (size_t i = 0; i < times_.size(); i++) {
      nlohmann::json column = nlohmann::json::array();
      for (const int64_t bound : bounds) {
        const bool has = i < series.cells.size() && series.cells[i].contains(bound);
        column.push_back(has ? series.cells[i].at(bound) : 0);
      }
      heat["cells"].push_back(std::move(column));
    }
    made["heat"][name] = std::move(heat);
  }
  return made;
}

}  // namespace dvm::view
