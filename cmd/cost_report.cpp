// Predictions as a table and as JSON. Covered by tests/runtime/scenarios/test_cost.py.

#include "cmd/cost_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lab/calibrate/meter.h"
#include "runtime/cost/agent_cost.h"
#include "runtime/cost/model.h"
#include "runtime/cost/rows.h"

namespace dvm::cmd {
namespace {

using Json = nlohmann::ordered_json;
using runtime::ClausePrediction;
using runtime::ProbePrediction;
using runtime::operator""_row;

constexpr double kOnePercent = 0.01;

void print_row(std::FILE* out, std::string_view name, const vm::CostRange& cost) {
  fmt::print(out, "    {:<28}{:>14.0f}{:>14.0f}{:>14.0f}\n", name, cost.cheapest.clocks, cost.expected.clocks,
             cost.dearest.clocks);
}

void print_row(std::FILE* out, std::string_view name, const vm::Cost& cost) { print_row(out, name, {cost, cost, cost}); }

// The clause of a text from the command line has no file that could be named.
std::string clause_name(const dif::SourcePosition& position) {
  const bool is_text = position.file.find_first_of(" {\n") != std::string::npos;
  return fmt::format("{}:{}", is_text ? "-n" : position.file, position.line);
}

const char* way_word(const runtime::AgentPrediction& agent) { return agent.way.is_at_site ? "site" : "record"; }

void print_clause(std::FILE* out, const ClausePrediction& clause) {
  const std::string name = clause_name(clause.position);
  if (clause.cost.has_predicate) print_row(out, fmt::format("{} predicate", name), clause.cost.predicate);
  const std::string share = clause.cost.has_predicate ? fmt::format(" x {:.2g}", clause.cost.probability) : "";
  print_row(out, fmt::format("{} actions{}", name, share), clause.cost.actions);
  if (clause.committed)
    fmt::print(out, "      {:.3g} % of the speculated data is committed and printed\n", 100 * *clause.committed);
}

double nanoseconds(double clocks, const PredictionContext& context) { return clocks / context.profile.clock_hz * 1e9; }

// Small rates, like one a minute, do not become 0.
std::string rate_text(double rate) { return rate >= 10 ? fmt::format("{:.0f}", rate) : fmt::format("{:.3g}", rate); }

// The origin of a rate that was neither given nor counted.
std::string origin_of_rate(const ProbePrediction& probe, const PredictionContext& context) {
  if (!probe.is_rate_named) return "";
  return probe.source == "tick" ? " (from its name)"
                                : fmt::format(" (from its name, on {} CPU{})", context.cpus, context.cpus == 1 ? "" : "s");
}

void print_rates(std::FILE* out, const ProbePrediction& probe, const PredictionContext& context) {
  const double clock = context.profile.clock_hz, clocks = probe.firing.expected.clocks;
  const double rate = runtime::rate_of_share(clocks, clock, kOnePercent);
  fmt::print(out, "    1 % of a CPU at {:.0f} firings a second; 1 % of all {} CPUs at {:.0f}\n", rate, context.cpus,
             rate * context.cpus);
  if (probe.rate > 0 || context.counted > 0)
    fmt::print(out, "    at {} firings a second{}: {:.4f} % of a CPU\n", rate_text(probe.rate), origin_of_rate(probe, context),
               100 * runtime::share_of_cpu(runtime::probe_cost(probe.firing.expected, probe.rate).clocks, clock));
}

// The same probe in the prediction of what its clauses become; null: there is none.
const ProbePrediction* later_of(const ProbePrediction& probe, const PredictionContext& context) {
  if (context.later == nullptr) return nullptr;
  const auto& all = context.later->probes;
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.description == probe.description; });
  return found == all.end() ? nullptr : &*found;
}

void print_ns(std::FILE* out, const vm::CostRange& firing, const PredictionContext& context) {
  fmt::print(out, "    {:<28}{:>14.1f}{:>14.1f}{:>14.1f}  expected +- {:.1f}\n", "  ns",
             nanoseconds(firing.cheapest.clocks, context), nanoseconds(firing.expected.clocks, context),
             nanoseconds(firing.dearest.clocks, context), nanoseconds(firing.expected.spread, context));
}

// Where a string lies decides most of the price of a key, and is not known.
void print_strings(std::FILE* out, const runtime::AgentWay& way, const PredictionContext& context) {
  double strings = 0, copied = 0;
  for (const runtime::SiteUses& clause : way.clauses) strings += clause.strings, copied += clause.copied;
  const vm::Price* on_heap = context.profile.find(runtime::heap_string_row(way));
  if (strings > 0 && on_heap != nullptr)
    fmt::print(out, "    a string key on the heap takes {:.0f} ns more; assumed of {:.3g} %, which --heap sets\n",
               nanoseconds(on_heap->m, context), 100 * copied / strings);
  if (!way.by_calls.empty()) fmt::print(out, "    the heap is read by system calls: {}\n", way.by_calls);
}

// Where an agent has its clauses run, and what a firing takes there.
void print_agent(std::FILE* out, const ProbePrediction& probe, const PredictionContext& context) {
  if (!probe.agent) return;
  const runtime::AgentWay& way = probe.agent->way;
  const auto side = [&](std::string_view name, const vm::Cost& cost) {
    fmt::print(out, "    {:<28}{:>14}{:>14.1f} ns{:>11}  +- {:.1f}\n", name, "", nanoseconds(cost.clocks, context), "",
               nanoseconds(cost.spread, context));
  };
  side("  in the traced thread", probe.agent->thread);
  side("  in dvm", probe.agent->dvm);
  print_strings(out, way, context);
  if (!way.reason.empty()) fmt::print(out, "    clauses run in dvm: {}\n", way.reason);
  if (way.share < 1) fmt::print(out, "    others are not taken by the agent: {}\n", way.refusal);
}

void print_probe(std::FILE* out, const ProbePrediction& probe, const PredictionContext& context) {
  fmt::print(out, "\n  {}\n    {:<28}{:>14}{:>14}{:>14}\n", probe.description, "CLOCKS A FIRING", "CHEAPEST", "EXPECTED",
             "DEAREST");
  print_row(out, fmt::format("source {}{}", probe.source, probe.is_assumed ? " (assumed)" : ""), probe.trigger);
  for (size_t i = 0; i < probe.stages.size(); i++)
    if (probe.stages[i].clocks > 0) print_row(out, fmt::format("  {}", runtime::kFlowStages[i]), probe.stages[i]);
  if (probe.capture.clocks > 0) print_row(out, "capture", probe.capture);
  print_row(out, "preparation", probe.prepare);
  for (const ClausePrediction& clause : probe.clauses) print_clause(out, clause);
  print_row(out, "firing", probe.firing);
  print_ns(out, probe.firing, context);
  print_agent(out, probe, context);
  if (const ProbePrediction* later = later_of(probe, context)) {
    print_row(out, "firing as machine code", later->firing);
    print_ns(out, later->firing, context);
  }
  print_rates(out, probe, context);
}

// A fault is part of a firing of another probe. Nothing says how often one faults but --faults, or a counted run.
void print_error(std::FILE* out, const ProbePrediction& error, const PredictionContext& context) {
  fmt::print(out, "\n  {}\n    {:<28}{:>14}{:>14}{:>14}\n", error.description, "CLOCKS A FAULT", "CHEAPEST", "EXPECTED",
             "DEAREST");
  print_row(out, "record of the error", error.trigger);
  print_row(out, "preparation", error.prepare);
  for (const ClausePrediction& clause : error.clauses) print_clause(out, clause);
  print_row(out, "fault", error.firing);
  print_ns(out, error.firing, context);
  fmt::print(out, "    part of the firings above, as often as they fault{}\n",
             error.rate > 0 ? fmt::format(": {} a second", rate_text(error.rate)) : "; --faults sets the share");
}

double consumer_percent(const runtime::Prediction& prediction, const PredictionContext& context) {
  return 100 * runtime::share_of_cpu(prediction.consumer.clocks, context.profile.clock_hz);
}

Json json_of(const vm::CostRange& cost) {
  return {{"cheapest", cost.cheapest.clocks},
          {"expected", cost.expected.clocks},
          {"dearest", cost.dearest.clocks},
          {"spread", cost.expected.spread}};
}

Json json_of(const ClausePrediction& clause) {
  Json json = {{"file", clause.position.file}, {"line", clause.position.line}};
  if (clause.cost.has_predicate) {
    json["probability"] = clause.cost.probability;
    json["predicate"] = json_of(clause.cost.predicate);
  }
  json["actions"] = json_of(clause.cost.actions);
  json["measured"] = clause.is_measured;
  json["record_bytes"] = clause.record.bytes;
  if (clause.committed) json["committed_share"] = *clause.committed;
  return json;
}

Json stages_json(const ProbePrediction& probe) {
  Json json = Json::object();
  for (size_t i = 0; i < probe.stages.size(); i++)
    if (probe.stages[i].clocks > 0) json[std::string(runtime::kFlowStages[i])] = probe.stages[i].clocks;
  return json;
}

Json json_of(const runtime::AgentPrediction& agent, const PredictionContext& context) {
  const runtime::AgentWay& way = agent.way;
  Json json = {{"way", way_word(agent)},
               {"share", way.share},
               {"thread_ns", nanoseconds(agent.thread.clocks, context)},
               {"dvm_ns", nanoseconds(agent.dvm.clocks, context)}};
  if (!way.reason.empty()) json["reason"] = way.reason;
  if (!way.by_calls.empty()) json["by_calls"] = way.by_calls;
  if (way.share < 1) json["refusal"] = way.refusal;
  return json;
}

Json json_of(const ProbePrediction& probe, const PredictionContext& context) {
  const double clock = context.profile.clock_hz;
  Json json = {{"probe", probe.description},
               {"source", probe.source},
               {"source_assumed", probe.is_assumed},
               {"source_clocks", probe.trigger.clocks},
               {"stage_clocks", stages_json(probe)},
               {"capture_clocks", probe.capture.clocks},
               {"preparation_clocks", probe.prepare.clocks}};
  for (const ClausePrediction& clause : probe.clauses) {
    json["clauses"].push_back(json_of(clause));
    if (probe.agent) json["clauses"].back()["way"] = way_word(*probe.agent);
  }
  json["firing"] = json_of(probe.firing);
  json["firing_ns"] = nanoseconds(probe.firing.expected.clocks, context);
  if (probe.agent) json["agent"] = json_of(*probe.agent, context);
  if (const ProbePrediction* later = later_of(probe, context)) {
    json["firing_later"] = json_of(later->firing);
    json["firing_later_ns"] = nanoseconds(later->firing.expected.clocks, context);
  }
  json["one_percent_rate"] = runtime::rate_of_share(probe.firing.expected.clocks, clock, kOnePercent);
  if (probe.rate > 0 || context.counted > 0) {
    json["rate"] = probe.rate;
    json["rate_by_name"] = probe.is_rate_named;
    json["cpu_percent"] = 100 * runtime::share_of_cpu(probe.firing.expected.clocks * probe.rate, clock);
  }
  return json;
}

Json error_json(const ProbePrediction& error, const PredictionContext& context) {
  Json json = {{"record_clocks", error.trigger.clocks}, {"preparation_clocks", error.prepare.clocks}};
  for (const ClausePrediction& clause : error.clauses) json["clauses"].push_back(json_of(clause));
  json["fault"] = json_of(error.firing);
  json["fault_ns"] = nanoseconds(error.firing.expected.clocks, context);
  if (error.rate > 0) json["rate"] = error.rate;
  return json;
}

Json json_of(const vm::Profile& profile) {
  return {{"name", profile.name}, {"machine", profile.machine}, {"clock_hz", profile.clock_hz}};
}

void print_json(std::FILE* out, const Json& json) {
  fmt::print(out, "{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

double percent(const vm::Cost& clocks, const PredictionContext& context) {
  return 100 * runtime::share_of_cpu(clocks.clocks, context.profile.clock_hz);
}

bool knows_rates(const runtime::Prediction& prediction) {
  return std::any_of(prediction.probes.begin(), prediction.probes.end(), [](const auto& probe) { return probe.rate > 0; });
}

void print_shares(std::FILE* out, const runtime::Prediction& prediction, const PredictionContext& context) {
  const runtime::Total& total = prediction.total;
  fmt::print(out, "\n  {:<30}{:>14}{:>14}{:>14}\n", "% OF A CPU AT THESE RATES", "USER", "SYSTEM", "TOTAL");
  const auto row = [&](std::string_view name, const vm::Cost& user, const vm::Cost& system) {
    fmt::print(out, "    {:<28}{:>14.4f}{:>14.4f}{:>14.4f}", name, percent(user, context), percent(system, context),
               percent(user + system, context));
  };
  row("probes", total.probes_user, total.probes_system);
  fmt::print(out, "\n");
  row("consumer", total.consumer_user, total.consumer_system);
  fmt::print(out, "\n");
  row("all", total.user(), total.system());
  fmt::print(out, "  +- {:.4f}\n", 100 * runtime::share_of_cpu(total.all().spread, context.profile.clock_hz));
  if (context.later != nullptr) {
    row("all, as machine code", context.later->total.user(), context.later->total.system());
    fmt::print(out, "\n");
  }
  if (prediction.waking.clocks > 0)
    fmt::print(
        out, "  probes includes {:.4f} for the first firings after idle time, {:.0f} ns each; --wakes sets how often they are\n",
        percent(prediction.waking, context), prediction.woken.clocks / context.profile.clock_hz * 1e9);
}

// Probes without a rate, which the shares exclude.
void print_rateless(std::FILE* out, const runtime::Prediction& prediction) {
  std::string names;
  for (const ProbePrediction& probe : prediction.probes)
    if (!probe.is_rate_known) names += fmt::format("{}{}", names.empty() ? "" : ", ", probe.description);
  if (!names.empty()) fmt::print(out, "  excluded: {}; give its rate with --rate or --sample\n", names);
}

// The parts of the prediction that come from a counted run.
void print_measured(std::FILE* out, const runtime::Prediction& prediction) {
  size_t measured = 0, clauses = 0;
  for (const ProbePrediction& probe : prediction.probes)
    for (const ClausePrediction& clause : probe.clauses) measured += clause.is_measured, clauses++;
  if (measured > 0)
    fmt::print(out, "\n  measured in a run: how often predicates hold and branches are taken{}\n",
               measured < clauses ? "; assumed to be half of the time in clauses that did not fire" : "");
}

// Under engine=auto: when clauses change, and what is priced.
void print_engine(std::FILE* out, const PredictionContext& context) {
  if (context.engine != "auto") return fmt::print(out, "\n  engine {}\n", context.engine);
  fmt::print(out, "\n  engine auto: priced as interpreted, as clauses begin{}\n",
             context.later ? ", and as the machine code that they become"
                           : "; the profile has no prices of the machine code that they become");
  for (const runtime::EngineChange& change : context.changes) {
    const std::string when = change.seconds ? fmt::format(", {:.3g} s at these rates", *change.seconds) : "";
    fmt::print(out, "    dt_clause_{} ({}) is translated after about {:.2g} firings{}\n", change.clause,
               clause_name(change.position), change.firings, when);
  }
}

Json json_of(const runtime::EngineChange& change) {
  Json json = {
      {"clause", change.clause}, {"file", change.position.file}, {"line", change.position.line}, {"firings", change.firings}};
  json["seconds"] = change.seconds ? Json(*change.seconds) : Json();
  return json;
}

Json json_of(const runtime::Total& total, const PredictionContext& context) {
  const auto side = [&](const vm::Cost& user, const vm::Cost& system) {
    return Json{{"user_percent", percent(user, context)},
                {"system_percent", percent(system, context)},
                {"percent", percent(user + system, context)}};
  };
  return {{"probes", side(total.probes_user, total.probes_system)},
          {"consumer", side(total.consumer_user, total.consumer_system)},
          {"all", side(total.user(), total.system())},
          {"spread_percent", 100 * runtime::share_of_cpu(total.all().spread, context.profile.clock_hz)}};
}

std::string how_it_knows(const PredictionContext& context) {
  return context.counted > 0 ? fmt::format("firings were counted for {:.3g} s", context.counted) : "nothing was traced";
}

// Of a source that is not measured all stages are missing.
std::string name_of(runtime::Row row) {
  return row.folder() == "source" ? fmt::format("source/{}", row.text().name) : row.name();
}

}  // namespace

std::string unpriced_text(const std::set<std::string>& rows, std::string_view indent) {
  if (rows.empty()) return "";
  const auto never = lab::unmeasured_rows();
  std::string text = fmt::format("{}not priced by this profile, counted as 0:\n", indent);
  for (const std::string& row : rows) {
    const auto found = std::find_if(never.begin(), never.end(), [&](const auto& one) { return name_of(one.row) == row; });
    text += fmt::format("{}  {}{}\n", indent, row, found == never.end() ? "" : fmt::format(": {}", found->reason));
  }
  return text;
}

void print_prediction(std::FILE* out, const runtime::Prediction& prediction, const PredictionContext& context) {
  const vm::Profile& profile = context.profile;
  fmt::print(out, "PREDICTION  by profile {} ({}), {:.3f} GHz; {}\n", profile.name, profile.machine, profile.clock_hz / 1e9,
             how_it_knows(context));
  for (const ProbePrediction& probe : prediction.probes) print_probe(out, probe, context);
  if (prediction.error && !prediction.probes.empty()) print_error(out, *prediction.error, context);
  if (prediction.probes.empty())
    fmt::print(out, "\n  no clause is on a probe that has a price: BEGIN, END and ERROR fire rarely, and in dvm\n");
  if (std::any_of(prediction.probes.begin(), prediction.probes.end(), [](const auto& probe) { return probe.is_assumed; }))
    fmt::print(
        out,
        "\n  assumed: an instruction that the kernel single-steps, the most expensive kind; with -p, dvm reads the actual one,\n"
        "  with -c only in the program itself, whose libraries are not mapped yet: use dvm run --predict\n");
  print_measured(out, prediction);
  if (!prediction.probes.empty()) print_engine(out, context);
  fmt::print(out, "\n  consumer: {:.4f} % of a CPU", consumer_percent(prediction, context));
  if (prediction.record_rate > 0) fmt::print(out, ", {:.0f} bytes of records a second", prediction.record_rate);
  fmt::print(out, "\n");
  if (knows_rates(prediction) || context.counted > 0) {
    print_shares(out, prediction, context);
    print_rateless(out, prediction);
  }
  if (!prediction.missing.empty()) fmt::print(out, "\n{}", unpriced_text(prediction.missing, "  "));
}

void print_prediction_json(std::FILE* out, const runtime::Prediction& prediction, const PredictionContext& context) {
  Json json = {{"profile", json_of(context.profile)}, {"cpus", context.cpus}, {"engine", context.engine}};
  json["probes"] = Json::array();
  for (const ProbePrediction& probe : prediction.probes) json["probes"].push_back(json_of(probe, context));
  if (prediction.error) json["error"] = error_json(*prediction.error, context);
  if (context.engine == "auto") {
    json["engine_changes"] = Json::array();
    for (const runtime::EngineChange& change : context.changes) json["engine_changes"].push_back(json_of(change));
  }
  if (context.later) json["shares_later"] = json_of(context.later->total, context);
  json["counted_seconds"] = context.counted;
  json["shares"] = json_of(prediction.total, context);
  json["after_idle_percent"] = percent(prediction.waking, context);
  json["consumer_percent"] = consumer_percent(prediction, context);
  json["record_bytes_per_second"] = prediction.record_rate;
  json["missing"] = prediction.missing;
  print_json(out, json);
}

void print_experiments(std::FILE* out, const std::vector<runtime::ExperimentResult>& results, const vm::Profile& profile) {
  fmt::print(out, "The paper's experiments by profile {}, in per cent of a CPU; consumer {:.4f}\n\n", profile.name,
             runtime::paper_consumer(profile));
  fmt::print(out, "{:<22}{:>9}{:>9}{:>12}{:>12}{:>12}{:>12}{:>9}\n", "RUN", "CLOCKS", "RATE", "PREDICTED", "PUBLISHED",
             "MEASURED", "PUBLISHED", "ERROR %");
  for (const runtime::ExperimentResult& row : results) {
    const runtime::Experiment& run = *row.experiment;
    fmt::print(out, "{:<22}{:>9.0f}{:>9.0f}{:>12.4f}{:>12.4f}{:>12.4f}{:>12.4f}{:>+9.2f}\n", run.name, row.firing, run.rate,
               row.predicted, run.published_prediction, row.measured, run.published_measurement, row.error());
  }
}

void print_experiments_json(std::FILE* out, const std::vector<runtime::ExperimentResult>& results, const vm::Profile& profile) {
  Json json = {{"profile", json_of(profile)}, {"consumer_percent", runtime::paper_consumer(profile)}};
  for (const runtime::ExperimentResult& row : results)
    json["experiments"].push_back({{"name", row.experiment->name},
                                   {"clocks", row.firing},
                                   {"rate", row.experiment->rate},
                                   {"predicted_percent", row.predicted},
                                   {"published_prediction", row.experiment->published_prediction},
                                   {"measured_percent", row.measured},
                                   {"published_measurement", row.experiment->published_measurement},
                                   {"error_percent", row.error()}});
  print_json(out, json);
}

// The median and the worst of the errors, without their signs.
std::pair<double, double> median_and_worst(const std::vector<ValidatedScript>& rows) {
  std::vector<double> errors;
  for (const ValidatedScript& row : rows) errors.push_back(std::abs(row.result.error()));
  std::sort(errors.begin(), errors.end());
  return errors.empty() ? std::pair(0.0, 0.0) : std::pair(errors[errors.size() / 2], errors.back());
}

void print_validated(std::FILE* out, const std::vector<ValidatedScript>& rows, const vm::Profile& profile,
                     std::string_view engine) {
  fmt::print(out, "ns per firing on the probe side, on engine {}, by profile {} ({})\n\n", engine, profile.name, profile.machine);
  fmt::print(out, "{:<44}{:>12}{:>9}{:>12}{:>9}{:>9}\n", "SCRIPT", "PREDICTED", "+-", "MEASURED", "+-", "ERROR %");
  std::set<std::string> missing;
  size_t disturbed = 0;
  for (const ValidatedScript& row : rows) {
    const lab::Validated& result = row.result;
    fmt::print(out, "{:<44}{:>12.1f}{:>9.1f}{:>12.1f}{:>9.1f}{:>+9.1f}{}\n", row.script, result.predicted,
               result.predicted_spread, result.measured, result.measured_spread, result.error(), result.is_quiet ? "" : " ~");
    disturbed += !result.is_quiet;
    missing.insert(result.missing.begin(), result.missing.end());
  }
  const auto [median, worst] = median_and_worst(rows);
  fmt::print(out, "\n{} scripts: median error {:.1f} %, worst {:.1f} %\n", rows.size(), median, worst);
  if (disturbed > 0)
    fmt::print(out, "~ the core was disturbed nearly all the time, which makes the measured time longer: {} scripts\n",
               disturbed);
  fmt::print(out, "{}", unpriced_text(missing));
}

void print_validated_json(std::FILE* out, const std::vector<ValidatedScript>& rows, const vm::Profile& profile,
                          std::string_view engine) {
  Json json = {{"profile", json_of(profile)}, {"engine", engine}};
  json["scripts"] = Json::array();
  for (const ValidatedScript& row : rows)
    json["scripts"].push_back({{"script", row.script},
                               {"predicted_ns", row.result.predicted},
                               {"predicted_spread", row.result.predicted_spread},
                               {"measured_ns", row.result.measured},
                               {"measured_spread", row.result.measured_spread},
                               {"error_percent", row.result.error()},
                               {"quiet", row.result.is_quiet},
                               {"missing", row.result.missing}});
  const auto [median, worst] = median_and_worst(rows);
  json["median_error_percent"] = median;
  json["worst_error_percent"] = worst;
  print_json(out, json);
}

}  // namespace dvm::cmd
