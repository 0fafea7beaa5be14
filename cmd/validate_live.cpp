// Covered by tests/runtime/scenarios/test_validate.py.

#include "cmd/validate_live.h"

#include <fmt/core.h>
#include <sys/utsname.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "cmd/command.h"
#include "cmd/live_script.h"
#include "cmd/progress.h"
#include "cmd/validation_report.h"
#include "common/output_file.h"
#include "runtime/cost/profile_file.h"

namespace dvm::cmd {
namespace {

namespace fs = std::filesystem;

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm time{};
  gmtime_r(&now, &time);
  char text[16];
  return std::strftime(text, sizeof text, "%Y-%m-%d", &time) > 0 ? text : "";
}

Validation validate(const std::vector<const lab::LiveRow*>& rows, const vm::Profile& profile, const std::string& workload,
                    const LiveValidateOptions& given) {
  lab::LiveSettings settings;
  if (given.quick) settings = {2, 0.1, 0.05};
  const lab::LiveValidation meter{profile, open_traced, workload, settings};
  Validation validation{profile, runtime::text_of(runtime::this_machine(DVM_VERSION)), today(), given.quick, {}, {}};
  Progress progress;
  for (size_t i = 0; i < rows.size(); i++) {
    progress.say(fmt::format("validating {}", rows[i]->name), i, rows.size());
    validation.rows.push_back(meter.measure(*rows[i]));
  }
  const bool has_markers = std::any_of(rows.begin(), rows.end(), [](const auto* row) { return row->group == "e"; });
  if (!has_markers) return validation;
  progress.say("measuring the sizes of markers", rows.size(), rows.size());
  if (auto sizes = meter.sizes()) validation.marker_bytes = *sizes;
  return validation;
}

Status write_report(const Validation& validation, const std::string& path) {
  const fs::path file(path);
  const std::string stem = file.stem().string();
  if (Status written = write_file(path, validation_page(validation, stem)); !written) return written;
  for (const auto& [name, drawing] : validation_drawings(validation, stem))
    if (Status written = write_file((file.parent_path() / name).string(), drawing); !written) return written;
  return {};
}

// If nothing can be traced, all rows say why.
Status check_measured(const Validation& validation) {
  const auto is_missing = [](const lab::LiveResult& row) {
    return !row.is_measured() && row.row->measure != lab::Measure::absent && row.row->measure != lab::Measure::peer;
  };
  const auto missing = std::find_if(validation.rows.begin(), validation.rows.end(), is_missing);
  if (missing == validation.rows.end()) return {};
  return Error{fmt::format("{} was not measured: {}", missing->row->name, missing->problem)};
}

}  // namespace

int validate_live(const LiveValidateOptions& given) {
  std::string unknown;
  const auto rows = lab::find_live_rows(given.only, unknown);
  if (!unknown.empty()) return fail("--only {}: there is no such row or group", unknown);
  const Result<ExperimentBasis> basis = prepare_experiments(given.profile);
  if (!basis) return fail("{}", basis.error().message);
  const Validation validation = validate(rows, basis->profile, basis->workload, given);
  if (given.as_json)
    fmt::print("{}", validation_json(validation));
  else
    print_validation(stdout, validation);
  if (!given.report.empty())
    if (Status written = write_report(validation, given.report); !written) return fail("{}", written.error().message);
  const Status measured = check_measured(validation);
  return measured ? 0 : fail("{}", measured.error().message);
}

}  // namespace dvm::cmd
