// Covered by tests/runtime/scenarios/test_simulate.py.

#include "cmd/simulation_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cmd/command.h"
#include "cmd/cost_report.h"
#include "cmd/live_script.h"
#include "cmd/progress.h"
#include "lab/validate/simulation_check.h"
#include "runtime/cost/profile_file.h"

namespace dvm::cmd {
namespace {

using Json = nlohmann::ordered_json;
using lab::CheckedFigure;
using lab::CheckedPoint;
using lab::SimulationPoint;

struct Check {
  const vm::Profile& profile;
  std::string machine;
  std::vector<CheckedPoint> points;
};

Result<std::vector<const SimulationPoint*>> find_points(const std::vector<std::string>& names) {
  const auto all = lab::simulation_points();
  std::vector<const SimulationPoint*> found;
  for (const std::string& name : names)
    if (std::none_of(all.begin(), all.end(), [&](const auto& point) { return point.name == name; }))
      return Error{fmt::format("--only {}: there is no such point", name)};
  for (const SimulationPoint& point : all)
    if (names.empty() || std::find(names.begin(), names.end(), point.name) != names.end()) found.push_back(&point);
  return found;
}

// A measured 0 has no error: it is less than is worth measuring.
std::string error_text(const CheckedFigure& figure) {
  return figure.measured.median == 0 ? "" : fmt::format("{:+.1f}", figure.error());
}

std::string slowdown_text(double times) {
  return times == 1 ? "" : fmt::format("; its calls took {:.2f} times as long as the profile's", times);
}

void print_point(std::FILE* out, const CheckedPoint& checked) {
  fmt::print(out, "\n  {}: {}{}\n", checked.point->name, checked.point->title, slowdown_text(checked.machine.slowdown));
  if (!checked.problem.empty()) fmt::print(out, "    not measured: {}\n", checked.problem);
  for (const CheckedFigure& figure : checked.figures)
    if (figure.simulated != 0 || figure.measured.median != 0)
      fmt::print(out, "    {:<14}{:>14.6g}{:>14.6g} +- {:<10.2g}{:>9}  {}\n", figure.name, figure.simulated,
                 figure.measured.median, figure.measured.deviation(), error_text(figure), figure.unit);
}

void print(std::FILE* out, const Check& check) {
  fmt::print(out, "Simulated by profile {} ({}), measured on {}\n\n", check.profile.name, check.profile.machine, check.machine);
  fmt::print(out, "    {:<14}{:>14}{:>14}    {:<10}{:>9}\n", "FIGURE", "SIMULATED", "MEASURED", "", "ERROR %");
  std::set<std::string> missing;
  for (const CheckedPoint& point : check.points) {
    print_point(out, point);
    missing.insert(point.missing.begin(), point.missing.end());
  }
  if (!missing.empty()) fmt::print(out, "\n{}", unpriced_text(missing));
}

Json json_of(const CheckedPoint& checked) {
  Json json = {{"name", checked.point->name}, {"title", checked.point->title}};
  if (!checked.problem.empty()) json["problem"] = checked.problem;
  const runtime::SimulatedMachine& machine = checked.machine;
  json["rate"] = machine.rate, json["threads"] = machine.threads, json["cpus"] = machine.cpus, json["keys"] = machine.keys;
  json["slowdown"] = machine.slowdown;
  json["figures"] = Json::array();
  for (const CheckedFigure& figure : checked.figures)
    json["figures"].push_back({{"name", figure.name},
                               {"unit", figure.unit},
                               {"simulated", figure.simulated},
                               {"measured", figure.measured.median},
                               {"measured_spread", figure.measured.deviation()},
                               {"error_percent", figure.measured.median == 0 ? Json() : Json(figure.error())}});
  json["missing"] = checked.missing;
  return json;
}

void print_json(std::FILE* out, const Check& check) {
  Json json = {{"profile", {{"name", check.profile.name}, {"machine", check.profile.machine}}}, {"machine", check.machine}};
  json["points"] = Json::array();
  for (const CheckedPoint& point : check.points) json["points"].push_back(json_of(point));
  fmt::print(out, "{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

void measure(const std::vector<const SimulationPoint*>& points, const std::string& workload, const lab::CheckSettings& settings,
             Check& check) {
  Progress progress;  // gone before results are printed
  for (const SimulationPoint* point : points) {
    progress.say(fmt::format("measuring {}", point->name), check.points.size(), points.size());
    check.points.push_back(lab::check_point(*point, check.profile, open_traced, workload, settings));
  }
}

}  // namespace

int check_simulation(const SimulationCheckOptions& given) {
  const auto points = find_points(given.only);
  if (!points) return fail("{}", points.error().message);
  const Result<ExperimentBasis> basis = prepare_experiments(given.profile);
  if (!basis) return fail("{}", basis.error().message);
  lab::CheckSettings settings;
  if (given.quick) settings = {1, 0.2};
  Check check{basis->profile, runtime::text_of(runtime::this_machine(DVM_VERSION)), {}};
  measure(*points, basis->workload, settings, check);
  given.as_json ? print_json(stdout, check) : print(stdout, check);
  const auto failed =
      std::find_if(check.points.begin(), check.points.end(), [](const auto& point) { return !point.problem.empty(); });
  return failed == check.points.end() ? 0 : fail("{} was not measured: {}", failed->point->name, failed->problem);
}

}  // namespace dvm::cmd
