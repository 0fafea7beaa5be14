// Covered by tests/unit/lab/series_book_test.cpp.

#include "lab/noise/series_book.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "common/clock.h"

namespace dvm::lab::noise {
namespace {

constexpr double kDoubt = 0.03;  // in what only one pass found
constexpr double kSame = 1.02;   // times as long
constexpr size_t kAgreed = 3;    // passes
constexpr unsigned kMore = 4;    // times as many tries of what was never quiet

}  // namespace

const std::vector<SeriesBook::Found>& SeriesBook::keep(const std::string& series, const Found& now) {
  auto& all = series_[series];
  const auto median = [](const Found& found) { return found.of_pass.median; };
  all.insert(std::ranges::upper_bound(all, median(now), {}, median), now);
  return all;
}

bool SeriesBook::was_quiet(const std::vector<Found>& all) { return std::ranges::any_of(all, &Found::is_quiet); }

Middle SeriesBook::settled(const std::vector<Found>& all) {
  Middle settled = all.front().of_pass;
  if (all.size() > 1) {
    const double apart = (all[1].of_pass.median - settled.median) / 2, most = kDoubt * std::abs(settled.median);
    settled.distance = std::max(settled.distance, std::min(apart, most));
  }
  return settled;
}

Middle SeriesBook::settle(const std::string& series, const Middle& found, bool is_quiet) {
  return settled(keep(series, {found, is_quiet}));
}

Middle SeriesBook::settled(const std::string& series) const {
  const auto known = series_.find(series);
  return known != series_.end() ? settled(known->second) : Middle();
}

bool SeriesBook::is_sure(const std::string& series) const {
  const auto all = series_.find(series);
  if (all == series_.end() || all->second.size() < kAgreed) return false;
  const double most = kSame * all->second.front().of_pass.median;
  return std::ranges::all_of(std::span(all->second).first(kAgreed),
                             [&](const Found& one) { return one.is_quiet && one.of_pass.median <= most; });
}

QuietSamples SeriesBook::samples_of(const std::string& series, unsigned samples) const {
  const auto all = series_.find(series);
  const bool is_patient = all != series_.end() && !was_quiet(all->second) && read_clock(CLOCK_MONOTONIC) < patient_until_;
  return QuietSamples(is_sure(series) ? 0 : samples, is_patient ? kMore * kUsualTries : kUsualTries);
}

Middle SeriesBook::settle_middle(const std::string& series, const Middle& found, bool is_quiet) {
  std::vector<double> medians, distances;
  const auto& all = keep(series, {found, is_quiet});
  const bool only_quiet = was_quiet(all);
  for (const Found& one : all)
    if (one.is_quiet || !only_quiet) medians.push_back(one.of_pass.median), distances.push_back(one.of_pass.distance);
  const Middle passes = middle(medians);
  return {passes.median, std::max(passes.distance, middle(distances).median)};
}

Middle SeriesBook::settle(const std::string& series, const QuietSamples& samples) {
  if (samples.is_empty()) return settled(series);
  return settle(series, samples.middle(), samples.is_quiet());
}

double SeriesBook::disturbed() const {
  const auto count = std::ranges::count_if(series_, [](const auto& one) { return !was_quiet(one.second); });
  return series_.empty() ? 0 : static_cast<double>(count) / static_cast<double>(series_.size());
}

std::string SeriesBook::text() const {
  nlohmann::json text = nlohmann::json::object();
  for (const auto& [name, all] : series_)
    for (const Found& one : all) text[name].push_back({one.of_pass.median, one.of_pass.distance, one.is_quiet});
  return text.dump();
}

Result<SeriesBook> SeriesBook::parse(std::string_view text) try {
  SeriesBook book;
  const nlohmann::json parsed = nlohmann::json::parse(text);
  for (const auto& [name, all] : parsed.items())
    for (const auto& one : all)
      book.series_[name].push_back({{one.at(0).get<double>(), one.at(1).get<double>()}, one.at(2).get<bool>()});
  return book;
} catch (const nlohmann::json::exception& error) {
  return Error{error.what()};
}

}  // namespace dvm::lab::noise
