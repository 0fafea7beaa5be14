#pragma once
// A meter measures some rows of a profile and sets their prices. Calibration runs all meters in order, because a price is what is
// left after known prices are subtracted; a benchmark runs the meter of one row.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/or_throw.h"
#include "common/replaced.h"
#include "dvm/dif/program.h"
#include "dvm/vm/profile.h"
#include "lab/noise/series_book.h"
#include "runtime/cost/rows.h"

namespace dvm::lab {

using CompileScript = std::function<Result<dif::Program>(const std::string& text)>;

// The compiler of a meter's scripts, the number and size of its samples, and the results of earlier passes.
struct Bench {
  CompileScript compile;
  // The meter sets it: where scripts run. Prices are those of its engine.
  runtime::Execution execution = {};
  // The number of samples of a DIF text and of its base, and the approximate length of one in ns.
  unsigned dif_samples = 15;
  uint64_t dif_ns = 50'000;
  // The number of samples of a script. One has so many firings, more than the caches hold, or calls of the looping child.
  unsigned samples = 3;
  uint64_t firings = 50'000, calls = 3'000;
  noise::SeriesBook book = {};  // of this pass and those before it
  std::function<void(size_t done, size_t all)> progress = [](size_t, size_t) {};
  std::function<void(const std::string&)> warn = [](const std::string&) {};  // part of a meter failed
};

// Measurements throw the Error that ends them.
struct Meter {
  std::string_view subject;  // for a progress line
  // "the ring was": what is missing where probes are impossible. Empty: its failure ends calibration.
  std::string_view unmeasured;
  std::vector<runtime::Row> (*rows)();
  void (*fill)(Bench& bench, std::optional<runtime::Row> only, vm::Profile& profile);
  runtime::EngineId engine = {};
  bool is_brief = false;  // all rows take seconds only, and others are made of them: measured in brief passes, too

  // Measures all rows, or at least one. A price includes those of earlier meters' rows that the profile does not have.
  Status measure(Bench& bench, std::optional<runtime::Row> only, vm::Profile& profile) const {
    bench.execution = {engine};
    return caught([&] { fill(bench, only, profile); });
  }
};

// The start of the name of each series that is timed.
inline std::string series_of(const Bench& bench) {
  const std::string_view folder = runtime::engine_folder(bench.execution.engine);
  return folder.empty() ? "" : std::string(folder) + " ";
}

// In the order of calibration. Of two that measure a row, the first does.
std::span<const Meter* const> meters();
std::vector<runtime::Row> measured_rows();  // each once

// The rows of a table of cases, each once.
template <class Cases>
std::vector<runtime::Row> rows_of(const Cases& cases) {
  std::vector<runtime::Row> rows;
  for (const auto& one : cases)
    if (std::find(rows.begin(), rows.end(), one.row) == rows.end()) rows.push_back(one.row);
  return rows;
}

inline bool has_row(const std::vector<runtime::Row>& rows, runtime::Row row) {
  return std::find(rows.begin(), rows.end(), row) != rows.end();
}

// Rows that are not measured, and cost nothing in a calibrated profile.
struct Unmeasured {
  runtime::Row row;
  const char* reason;
};
// All of them; one stage of a source stands for all.
std::span<const Unmeasured> unmeasured_rows();

// Prices made of times. Negative differences are noise and count as 0.

// The extra time of `with` over `without`, in the unit of both.
inline vm::Price difference(const noise::Middle& with, const noise::Middle& without = {}) {
  return {std::max(with.median - without.median, 0.0), 0, std::hypot(with.deviation(), without.deviation())};
}
// The price without a known part of it.
inline vm::Price beyond(const vm::Price& price, double known) { return {std::max(price.m - known, 0.0), price.n, price.spread}; }
inline vm::Price times(vm::Price price, double factor) { return {price.m * factor, price.n * factor, price.spread * factor}; }
// m and n from the prices of `things` things and of `more` further ones.
inline vm::Price by_size(const vm::Price& few, double things, const vm::Price& many, double more) {
  const double n = std::max((many.m - few.m) / more, 0.0);
  return {std::max(few.m - n * things, 0.0), n, std::max(few.spread, many.spread)};
}
inline double clocks_of_ns(const vm::Profile& profile) { return profile.clock_hz / 1e9; }

}  // namespace dvm::lab
