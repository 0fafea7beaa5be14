// Covered by tests/runtime/scenarios/test_validate.py.

#include "cmd/validation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "cmd/drawing.h"

namespace dvm::cmd {
namespace {

using Json = nlohmann::ordered_json;
using lab::LiveResult;
using lab::LiveRow;
using lab::Measure;

constexpr std::pair<std::string_view, std::string_view> kGroups[] = {
    {"a", "Tao and Yang's experiments, in per cent of a CPU"},
    {"c", "Gregg's looper"},
    {"d", "GitLab's five uses"},
    {"e", "LTTng's markers, in user space"},
    {"f", "Clauses by an agent in the process"},
};

std::string_view unit_of(const LiveRow& row) {
  if (row.group == "a" || row.measure == Measure::share) return "%";
  return row.measure == Measure::plain ? "clocks" : "ns";
}

std::vector<const LiveResult*> rows_of(const Validation& validation, std::string_view group) {
  std::vector<const LiveResult*> rows;
  for (const LiveResult& row : validation.rows)
    if (row.row->group == group) rows.push_back(&row);
  return rows;
}

struct Errors {
  size_t count = 0;
  double median = 0, worst = 0;
};

Errors errors_of(const Validation& validation) {
  std::vector<double> errors;
  for (const LiveResult& row : validation.rows)
    if (const auto error = row.error()) errors.push_back(std::abs(*error));
  std::sort(errors.begin(), errors.end());
  if (errors.empty()) return {};
  return {errors.size(), errors[errors.size() / 2], errors.back()};
}

// Share of undisturbed rounds among the rounds of all rows.
double quiet_share(const Validation& validation) {
  double sum = 0, count = 0;
  for (const LiveResult& row : validation.rows)
    if (row.is_measured()) sum += row.quiet, count++;
  return count > 0 ? sum / count : 0;
}

std::string quiet_text(const Validation& validation) {
  return fmt::format("the workload's core was undisturbed in {:.0f} % of the rounds; the others are excluded",
                     100 * quiet_share(validation));
}

std::string number(double value, double spread) { return fmt::format("{:.4g} +- {:.2g}", value, spread); }

std::string predicted_text(const LiveResult& row) {
  return row.is_measured() && row.predicted ? number(row.predicted->value, row.predicted->spread) : "-";
}
std::string measured_text(const LiveResult& row) { return row.is_measured() ? number(row.measured, row.spread) : "-"; }

std::string error_text(const LiveResult& row) {
  const auto error = row.error();
  if (!error) return "-";
  return fmt::format("{:+.1f}{}", *error, row.is_within() ? "" : " !");
}

// Further remarks on a row.
std::string remark(const LiveResult& row) {
  if (!row.problem.empty()) return row.problem;
  std::string text;
  if (row.by_stat) text = fmt::format("{:.3g} % by /proc/stat, {:.0f} rounds/s", *row.by_stat, row.rate);
  const bool is_call = row.row->measure == Measure::call || row.row->measure == Measure::peer;
  if (is_call && row.row->group == "d") {
    text = fmt::format("1 % at {:.0f} calls/s", lab::one_percent_rate(row.measured));
    if (row.predicted) text += fmt::format(", predicted {:.0f}", lab::one_percent_rate(row.predicted->value));
  }
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (row.drops > 0) add(fmt::format("{} drops", row.drops));
  if (!row.missing.empty()) add("no prediction: prices are missing");
  return text;
}

// Empty: all rows that can be predicted are.
std::string missing_text(const Validation& validation) {
  std::set<std::string> missing;
  size_t count = 0;
  for (const LiveResult& row : validation.rows)
    missing.insert(row.missing.begin(), row.missing.end()), count += !row.missing.empty();
  if (count == 0) return "";
  return fmt::format("{} row{} left out, because this profile has no price of {}", count, count == 1 ? " is" : "s are",
                     fmt::join(missing, ", "));
}

Json json_of(const LiveResult& result) {
  const LiveRow& row = *result.row;
  Json json = {
      {"group", row.group}, {"name", row.name}, {"title", row.title}, {"reference", row.reference}, {"unit", unit_of(row)}};
  if (!result.problem.empty()) {
    json["problem"] = result.problem;
    return json;
  }
  json["measured"] = result.measured, json["measured_spread"] = result.spread;
  if (result.predicted) {
    json["predicted"] = result.predicted->value, json["predicted_spread"] = result.predicted->spread;
    json["is_within"] = result.is_within();
  }
  if (const auto error = result.error()) json["error_percent"] = *error;
  if (row.measure != Measure::plain) json["thread_ns"] = result.thread, json["dvm_ns"] = result.dvm;
  if (result.by_stat) json["stat_percent"] = *result.by_stat, json["rate"] = result.rate;
  if (row.measure == Measure::call) json["one_percent_rate"] = lab::one_percent_rate(result.measured);
  json["quiet_share"] = result.quiet;
  json["drops"] = result.drops, json["missing"] = result.missing;
  return json;
}

std::string sizes_text(const std::vector<long>& bytes) {
  return fmt::format(
      "Bytes in the likely path: {} of a nop, {} of a load, a test and a branch, beside {} of data for the semaphore; LTTng's 6 "
      "and 11.",
      bytes[0], bytes[1], bytes[2]);
}

void print_group(std::FILE* out, std::string_view title, const std::vector<const LiveResult*>& rows) {
  fmt::print(out, "\n{}\n", title);
  for (const LiveResult* row : rows) {
    const LiveRow& about = *row->row;
    fmt::print(out, "  {:<20}{:>22}{:>22}{:>10}  {:<7}{}\n", about.name, predicted_text(*row), measured_text(*row),
               error_text(*row), unit_of(about), about.title);
    fmt::print(out, "  {:<20}reference: {}\n", "", about.reference);
    if (const std::string more = remark(*row); !more.empty()) fmt::print(out, "  {:<20}{}\n", "", more);
  }
}

std::string summary(const Errors& errors) {
  return fmt::format("{} row{} with a prediction: median error {:.1f} %, worst {:.1f} %", errors.count,
                     errors.count == 1 ? "" : "s", errors.median, errors.worst);
}

void add_table(std::string& page, const std::vector<const LiveResult*>& rows) {
  page += "| row | what | predicted | measured | unit | error % | the document has | |\n|---|---|---|---|---|---|---|---|\n";
  for (const LiveResult* row : rows)
    page += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", row->row->name, row->row->title, predicted_text(*row),
                        measured_text(*row), unit_of(*row->row), error_text(*row), row->row->reference, remark(*row));
}

std::string file_of(std::string_view group, const std::string& stem) { return fmt::format("{}-{}.svg", stem, group); }

}  // namespace

void print_validation(std::FILE* out, const Validation& validation) {
  fmt::print(out, "Predicted by profile {} ({}), measured on {}, {}\n", validation.profile.name, validation.profile.machine,
             validation.machine, validation.date);
  fmt::print(out, "\n  {:<20}{:>22}{:>22}{:>10}\n", "ROW", "PREDICTED", "MEASURED", "ERROR %");
  for (const auto& [group, title] : kGroups)
    if (const auto rows = rows_of(validation, group); !rows.empty()) print_group(out, title, rows);
  if (!validation.marker_bytes.empty()) fmt::print(out, "  {}\n", sizes_text(validation.marker_bytes));
  fmt::print(out, "\n{}; ! marks errors outside twice both error bars\n", summary(errors_of(validation)));
  fmt::print(out, "{}\n", quiet_text(validation));
  if (const std::string missing = missing_text(validation); !missing.empty()) fmt::print(out, "{}\n", missing);
}

std::string validation_json(const Validation& validation) {
  Json json = {{"profile", {{"name", validation.profile.name}, {"machine", validation.profile.machine}}},
               {"machine", validation.machine},
               {"date", validation.date},
               {"quick", validation.quick}};
  json["rows"] = Json::array();
  for (const LiveResult& row : validation.rows) json["rows"].push_back(json_of(row));
  if (const auto& bytes = validation.marker_bytes; !bytes.empty())
    json["marker_bytes"] = {{"nop", bytes[0]}, {"load_test_branch", bytes[1]}, {"semaphore", bytes[2]}};
  const Errors errors = errors_of(validation);
  json["quiet_share"] = quiet_share(validation);
  json["predicted_rows"] = errors.count;
  json["median_error_percent"] = errors.median, json["worst_error_percent"] = errors.worst;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string validation_page(const Validation& validation, const std::string& stem) {
  std::string page = fmt::format(
      "# Predicted and measured costs\n\nMade by `dvm cost validate{}` on {}, {}; prices by `dvm cost calibrate` ({}).\n\n"
      "The error is that of the prediction, in per cent of the measured cost; `!` marks an error outside twice both error bars.\n"
      "For a measured cost, `+-` is the standard deviation of the samples; for a predicted cost, the sum of the prices' "
      "spreads.\n\n{}; {}.\n",
      validation.quick ? " --quick" : "", validation.machine, validation.date, validation.profile.machine,
      summary(errors_of(validation)), quiet_text(validation));
  for (const auto& [group, title] : kGroups) {
    const auto rows = rows_of(validation, group);
    if (rows.empty()) continue;
    page += fmt::format("\n## {}\n\n", title);
    add_table(page, rows);
    if (group == "e" && !validation.marker_bytes.empty()) page += "\n" + sizes_text(validation.marker_bytes) + "\n";
    page += fmt::format("\n![{}]({})\n", title, file_of(group, stem));
  }
  if (const std::string missing = missing_text(validation); !missing.empty()) page += "\n" + missing + ".\n";
  return page;
}

std::vector<std::pair<std::string, std::string>> validation_drawings(const Validation& validation, const std::string& stem) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& [group, title] : kGroups) {
    std::vector<BarGroup> units;
    for (const LiveResult* row : rows_of(validation, group)) {
      if (!row->is_measured()) continue;
      BarPair bar{std::string(row->row->title), {row->measured, row->spread}, {}};
      if (row->predicted) bar.predicted = Bar{row->predicted->value, row->predicted->spread};
      const std::string unit(unit_of(*row->row));
      auto its = std::find_if(units.begin(), units.end(), [&](const BarGroup& one) { return one.unit == unit; });
      if (its == units.end()) its = units.insert(its, BarGroup{unit, {}});
      its->bars.push_back(std::move(bar));
    }
    if (!rows_of(validation, group).empty()) files.emplace_back(file_of(group, stem), draw_bars(std::string(title), units));
  }
  return files;
}

}  // namespace dvm::cmd
