// Covered by tests/unit/lab/row_measurement_test.cpp.

#include <fmt/format.h>

#include <map>

#include "lab/calibrate/dif_meter.h"
#include "lab/calibrate/meter.h"

namespace dvm::lab {

using namespace runtime;

extern const Meter kDifMeter, kScriptMeter, kNativeDifMeter, kNativeScriptMeter, kTableMeter, kReplayMeter, kAccountMeter,
    kConsumerMeter, kCaptureMeter, kRingMeter, kRestMeter, kSourceMeter, kLookMeter, kTimerMeter, kAgentMeter;

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
  return text;
}

std::span<const Meter* const> meters() {
  static const Meter* const all[] = {&kDifMeter,    &kScriptMeter,  &kNativeDifMeter, &kNativeScriptMeter, &kTableMeter,
                                     &kReplayMeter, &kAccountMeter, &kConsumerMeter,  &kCaptureMeter,      &kRingMeter,
                                     &kRestMeter,   &kSourceMeter,  &kLookMeter,      &kTimerMeter,        &kAgentMeter};
  return all;
}

std::vector<Row> measured_rows() {
  std::vector<Row> rows;
  for (const Meter* meter : meters())
    for (const Row row : meter->rows())
      if (!has_row(rows, row)) rows.push_back(row);
  return rows;
}

std::vector<Uncalibrated> unmeasured_rows() {
  std::vector<Uncalibrated> rows = uncalibrated_rows();
  const std::vector<Row> measured = measured_rows();
  std::erase_if(rows, [&](const Uncalibrated& one) { return has_row(measured, one.row); });
  rows.push_back({"source/fbt/trigger"_row, "there are no probes in the kernel's functions"});
  return rows;
}

Status measure_row(Row row, const CompileScript& compile, vm::Profile& profile) {
  Bench bench{.compile = compile, .calls = 20'000};
  for (const Meter* meter : meters())
    if (has_row(meter->rows(), row)) return meter->measure(bench, row, profile);
  return Error{fmt::format("there is no measurement of {}", row.name())};
}

std::string benchmark_name(Row row, const std::string& engine) {
  static const std::map<std::string_view, const char*> sites = {
      {"pid", "uprobe/stepped"},
      {"pid_emulated", "uprobe/entry"},
      {"pid_moved", "uprobe/moved"},
      {"pid_nop5", "uprobe/nop5"},
      {"pid_return", "uprobe/return"},
      {"pid_shared", "uprobe/shared"},
      {"pid_return_shared", "uprobe/return_shared"},
  };
  const auto& [folder, name, end] = row.text();
  if (folder == "consumer" || folder == "ring" || folder == "capture" || folder == "rested" || folder.starts_with("agent/"))
    return row.name();
  if (folder == "aggregation") return fmt::format("{}/agg/{}", engine, name);
  if (folder == "subroutine") return fmt::format("{}/subr/{}", engine, name);
  if (folder != "source") return fmt::format("{}/{}", engine, row.name());
  const auto site = sites.find(name);
  return fmt::format("source/{}{}{}", site == sites.end() ? name : site->second, end == "trigger" ? "" : "/",
                     end == "trigger" ? "" : end);
}

}  // namespace dvm::lab
