// Covered by tests/unit/lab/row_measurement_test.cpp.

#include "lab/calibrate/row_measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lab/calibrate/account_meter.h"
#include "lab/calibrate/action_meter.h"
#include "lab/calibrate/capture_meter.h"
#include "lab/calibrate/consumer_meter.h"
#include "lab/calibrate/dif_meter.h"
#include "lab/calibrate/live_meter.h"
#include "lab/calibrate/process_meter.h"
#include "lab/calibrate/rest_meter.h"
#include "lab/calibrate/ring_meter.h"
#include "lab/calibrate/script_cases.h"
#include "lab/calibrate/table_meter.h"
#include "runtime/cost/rows.h"

namespace dvm::runtime {
namespace {

constexpr ScriptMeterOptions kScripts = {3, 50'000};

// The case, and those of the rows that it is told from.
void find_cases(const std::string& row, const std::vector<DifCase>& all, std::vector<DifCase>& found) {
  const auto of_row = [&](const DifCase& one) { return one.row == row; };
  if (std::any_of(found.begin(), found.end(), of_row)) return;
  const auto own = std::find_if(all.begin(), all.end(), of_row);
  if (own == all.end()) return;
  found.push_back(*own);
  for (const auto* others : {&own->only_base, &own->only_body})
    for (const std::string& other : *others) find_cases(other, all, found);
}

std::vector<DifCase> dif_cases_of(const std::string& row) {
  std::vector<DifCase> found;
  find_cases(row, dif_cases(), found);
  return found;
}

Status measure_dif_row(const std::vector<DifCase>& cases, vm::Profile& profile) {
  const auto rows = measure_dif(cases, {}, [](size_t) {});
  if (!rows) return rows.error();
  profile.set(rows->front().row, rows->front().price);
  return {};
}

// Both of a row that is priced by size.
Status measure_script_row(const std::string& row, const CompileScript& compile, vm::Profile& profile) {
  for (const ScriptCase& one : script_cases())
    if (one.row == row)
      if (Status measured = measure_script(one, compile, kScripts, profile); !measured) return measured;
  return {};
}

bool has_script(const std::string& row) {
  const std::vector<ScriptCase> cases = script_cases();
  return std::any_of(cases.begin(), cases.end(), [&](const ScriptCase& one) { return one.row == row; });
}

bool has_row(const std::vector<std::string>& rows, const std::string& row) {
  return std::find(rows.begin(), rows.end(), row) != rows.end();
}

// "pid" of "source/pid/trigger".
std::string source_in(const std::string& row) {
  const size_t begin = row.find('/') + 1;
  return row.substr(begin, row.rfind('/') - begin);
}

}  // namespace

std::vector<std::string> measured_rows() {
  std::vector<std::string> rows;
  const auto add = [&rows](const std::string& row) {
    if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
  };
  for (const DifCase& one : dif_cases()) add(one.row);
  for (const ScriptCase& one : script_cases()) add(one.row);
  for (const std::string& row : action_rows()) add(row);
  for (const std::string& row : table_rows()) add(row);
  add("prepare/machine");
  for (const char* stage : {"trigger", "handler"}) add(fmt::format("source/replay/{}", stage));
  for (const std::string& row : capture_rows()) add(row);
  add("capture/recorded");
  for (const std::string& row : process_rows()) add(row);
  for (const std::string& source : live_sources())
    for (const std::string& row : live_rows(source)) add(row);
  for (const std::string& row : ring_rows()) add(row);
  for (const std::string& row : rest_rows()) add(row);
  for (const std::string& row : consumer_rows()) add(row);
  for (const std::string& row : look_rows()) add(row);
  for (const CostRow& counted : counted_things()) add(std::string(counted.name));
  return rows;
}

std::vector<Uncalibrated> unmeasured_rows() {
  std::vector<Uncalibrated> rows;
  for (const Uncalibrated& one : uncalibrated_rows())
    if (!has_row(action_rows(), one.row) && !has_row(process_rows(), one.row)) rows.push_back(one);
  rows.push_back({"source/fbt", "there are no probes in the kernel's functions"});
  return rows;
}

Status measure_row(const std::string& row, const CompileScript& compile, vm::Profile& profile) {
  if (const auto cases = dif_cases_of(row); !cases.empty()) return measure_dif_row(cases, profile);
  if (has_script(row)) return measure_script_row(row, compile, profile);
  if (row.starts_with("source/replay/") || row == "prepare/machine" || row == "capture/recorded")
    return measure_replay(compile, kScripts, profile);
  if (has_row(table_rows(), row)) return measure_tables(compile, kScripts, profile);
  if (has_row(action_rows(), row)) return measure_actions(compile, kScripts, profile, row);
  if (has_row(capture_rows(), row)) return measure_captures(compile, {3, 20'000}, profile, row);
  if (has_row(process_rows(), row)) return measure_processes(compile, {3, 1000}, profile);
  if (row.starts_with("source/")) return measure_source(source_in(row), compile, {3, 20'000}, profile);
  if (row.starts_with("ring/")) return measure_ring(compile, kScripts, profile);
  if (row.starts_with("rested/")) return measure_rests(compile, kScripts, profile);
  if (has_row(look_rows(), row)) return measure_looks(compile, kScripts, profile), Status();
  if (row.starts_with("account/")) return measure_accounting(compile, kScripts, profile);
  return measure_consumer(compile, kScripts, profile);
}

std::string benchmark_name(const std::string& row, const std::string& engine) {
  static const std::map<std::string, const char*> sites = {
      {"pid", "uprobe/stepped"},
      {"pid_emulated", "uprobe/entry"},
      {"pid_moved", "uprobe/moved"},
      {"pid_nop5", "uprobe/nop5"},
      {"pid_return", "uprobe/return"},
      {"pid_shared", "uprobe/shared"},
      {"pid_return_shared", "uprobe/return_shared"},
  };
  if (row.starts_with("consumer/") || row.starts_with("ring/") || row.starts_with("capture/") || row.starts_with("rested/"))
    return row;
  if (row.starts_with("aggregation/")) return fmt::format("{}/agg/{}", engine, row.substr(row.find('/') + 1));
  if (row.starts_with("subroutine/")) return fmt::format("{}/subr/{}", engine, row.substr(row.find('/') + 1));
  if (!row.starts_with("source/")) return fmt::format("{}/{}", engine, row);
  const std::string source = source_in(row);
  const auto site = sites.find(source);
  const std::string stage = row.ends_with("/trigger") ? "" : row.substr(row.rfind('/'));
  return fmt::format("source/{}{}", site == sites.end() ? source : site->second, stage);
}

}  // namespace dvm::runtime
