// dvm simulate: a traced machine on paper. Covered by tests/runtime/scenarios/test_simulate.py.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cmd/command.h"
#include "cmd/cost_report.h"
#include "cmd/drawing.h"
#include "cmd/profiles.h"
#include "cmd/script.h"
#include "cmd/simulation_check.h"
#include "cmd/untraced.h"
#include "common/output_file.h"
#include "runtime/cost/runs/firing_model.h"

namespace dvm::cmd {
namespace {

using Json = nlohmann::ordered_json;
using runtime::FiringModel;
using runtime::SimulatedBuffers;
using runtime::SimulatedMachine;
using runtime::SimulationResult;

constexpr double kMostRate = 1e9;  // of a thread, where drops are looked for

struct SimulateCommand {
  ScriptOptions script;
  std::string profile, drawing;
  SimulatedMachine machine{.rate = 1000, .cpus = 2};
  double seconds = 10, string_bytes = 16, probability = 0.5;
  bool as_json = false;
  bool check = false, quick = false;  // hold points against measured ones
  std::vector<std::string> only;      // of them
};

// One dimension, the others as they were given.
struct Sweep {
  std::string name;
  std::vector<SimulationResult> points;
};

struct Simulated {
  const vm::Profile& profile;
  std::string engine;
  FiringModel model;
  std::optional<FiringModel> later;  // engine=auto: of the machine code that clauses become; none: it has no prices
  SimulatedBuffers buffers;
  SimulationResult given;
  std::vector<Sweep> sweeps;
  double first_drop_rate = -1;
  std::set<std::string> missing;
};

// Under engine=auto clauses begin on the interpreter. If that is less than half of the time, the rest stands for all of it.
SimulationResult simulate_on(const Simulated& simulated, const SimulatedMachine& machine, double seconds) {
  const SimulationResult first = runtime::simulate(simulated.model, machine, simulated.buffers, seconds);
  if (!simulated.later || first.handled * seconds / 2 < simulated.model.translated_after || first.handled == 0) return first;
  SimulationResult result = runtime::simulate(*simulated.later, machine, simulated.buffers, seconds);
  result.is_native = true;
  return result;
}

template <class Change>
Sweep sweep(const std::string& name, const Simulated& simulated, double seconds, std::vector<double> factors, Change change) {
  Sweep made{name, {}};
  for (const double factor : factors) {
    SimulatedMachine machine = simulated.given.machine;
    change(machine, factor);
    made.points.push_back(simulate_on(simulated, machine, seconds));
  }
  return made;
}

unsigned at_least_one(double value) { return static_cast<unsigned>(std::max(1.0, value)); }

void add_sweeps(Simulated& simulated, double seconds) {
  const auto add = [&](const char* name, std::vector<double> factors, auto change) {
    simulated.sweeps.push_back(sweep(name, simulated, seconds, std::move(factors), change));
  };
  const SimulatedMachine& given = simulated.given.machine;
  add("rate", {0.1, 0.3, 1, 3, 10, 30, 100}, [&](SimulatedMachine& machine, double f) { machine.rate = given.rate * f; });
  add("threads", {1, 2, 4, 8}, [&](SimulatedMachine& machine, double f) { machine.threads = at_least_one(given.threads * f); });
  add("cpus", {0.5, 1, 2, 4}, [&](SimulatedMachine& machine, double f) { machine.cpus = at_least_one(given.cpus * f); });
  if (simulated.model.key_bytes > 0 || runtime::have_keys(simulated.model.dynamic))
    add("keys", {1, 10, 100, 1000, 10'000}, [&](SimulatedMachine& machine, double f) { machine.keys = given.keys * f; });
}

std::string_view policy_name(const SimulatedBuffers& buffers) {
  constexpr std::string_view kNames[] = {"switch", "fill", "ring"};
  return kNames[static_cast<size_t>(buffers.policy)];
}

// How far back the records reach that are there at the end.
double kept_seconds(const SimulationResult& result) { return result.handled > 0 ? result.kept / result.handled : 0; }

double value_of(const SimulatedMachine& machine, std::string_view dimension) {
  if (dimension == "rate") return machine.rate;
  if (dimension == "threads") return machine.threads;
  return dimension == "cpus" ? machine.cpus : machine.keys;
}

bool keeps_records(const Simulated& simulated) { return simulated.buffers.policy != runtime::BufferPolicy::switch_; }

void print_heading(std::FILE* out, const Simulated& simulated, std::string_view what) {
  fmt::print(out, "\n  {:>12}{:>14}{:>14}{:>12}{:>12}{:>12}{:>12}{}\n", what, "FIRED/S", "DROPS/S", "THREADS %", "DVM %",
             "CONSUMER %", "ALL %",
             fmt::format("{}{}", keeps_records(simulated) ? "   FULL AFTER S" : "",
                         simulated.model.dynamic.empty() ? "" : "    DYN DROPS/S"));
}

void print_point(std::FILE* out, const Simulated& simulated, double value, const SimulationResult& point) {
  fmt::print(out, "  {:>12.5g}{:>14.0f}{:>14.0f}{:>12.3f}{:>12.3f}{:>12.3f}{:>12.3f}", value, point.fired, point.ring_drops,
             100 * point.thread_share, 100 * point.dvm_share, 100 * point.consumer_share, 100 * point.share());
  if (keeps_records(simulated))
    fmt::print(out, "{:>15}", point.full_after < 0 ? "never" : fmt::format("{:.4g}", point.full_after));
  if (!simulated.model.dynamic.empty()) fmt::print(out, "{:>15.0f}", point.dynamic_drops);
  fmt::print(out, "\n");
}

// When a buffer of policy fill ends tracing, or what one of policy ring has overwritten.
void print_full(std::FILE* out, const Simulated& simulated) {
  const SimulationResult& given = simulated.given;
  const bool is_fill = simulated.buffers.policy == runtime::BufferPolicy::fill;
  const char* const then = is_fill ? "which ends tracing" : "and the oldest records are overwritten";
  if (given.full_after < 0) return fmt::print(out, "  no principal buffer fills up, because nothing is recorded\n");
  fmt::print(out, "  {} full after {:.4g} s, {}\n", is_fill ? "a principal buffer is" : "the principal buffers are",
             given.full_after, then);
  fmt::print(out, "  at the end dvm prints the records of {:.0f} firings, from the last {:.4g} s, in {:.3g} s of CPU time\n",
             given.kept, kept_seconds(given), given.report_seconds);
}

// When drops of the ring begin, and at which rate.
void print_drops(std::FILE* out, const Simulated& simulated) {
  const SimulationResult& given = simulated.given;
  if (given.ring_drops > 0)
    fmt::print(out, "  {:.0f} drops a second because the ring is full, first after {:.3f} s\n", given.ring_drops,
               given.first_drop);
  if (simulated.first_drop_rate > 0)
    fmt::print(out, "  drops begin at {:.0f} firings a second of each thread\n", simulated.first_drop_rate);
  else
    fmt::print(out, "  no rate that these threads can reach makes the ring drop firings\n");
}

// The number of keys at which dynamic variables begin to be dropped.
void print_dynamic_drops(std::FILE* out, const Simulated& simulated) {
  const SimulationResult& given = simulated.given;
  if (given.most_live < 0) return;
  fmt::print(out, "  dynvarsize {:.0f} has room for {:.0f} {}; further dynamic variables are dropped\n",
             simulated.buffers.dynamic, given.most_live, runtime::have_keys(simulated.model.dynamic) ? "live keys" : "threads");
  if (given.dynamic_drops > 0)
    fmt::print(out, "  {:.0f} dynamic variable drops a second, first after {:.3f} s\n", given.dynamic_drops,
               given.first_dynamic_drop);
}

const FiringModel& model_of(const Simulated& simulated) { return simulated.given.is_native ? *simulated.later : simulated.model; }

void print_engine(std::FILE* out, const Simulated& simulated) {
  if (simulated.engine != "auto") return fmt::print(out, "  engine {}\n", simulated.engine);
  const double handled = simulated.given.handled, after = simulated.model.translated_after;
  const std::string when = handled > 0 ? fmt::format(", {:.3g} s at this rate", after / handled) : "";
  fmt::print(out, "  engine auto: clauses are interpreted for {:.2g} firings{}; {}\n", after, when,
             !simulated.later            ? "priced as interpreted, since the profile has no prices of machine code"
             : simulated.given.is_native ? "priced as machine code"
                                         : "priced as interpreted");
}

void print(std::FILE* out, const Simulated& simulated) {
  const SimulatedMachine& machine = simulated.given.machine;
  const FiringModel& model = model_of(simulated);
  fmt::print(out, "SIMULATION  by profile {} ({}); nothing was traced\n", simulated.profile.name, simulated.profile.machine);
  print_engine(out, simulated);
  fmt::print(
      out, "  a firing: {:.0f} ns in its thread, {:.0f} ns in dvm; {:.0f} bytes in the ring, {:.0f} of records, {:.0f} per key\n",
      model.thread_ns, model.dvm_ns, model.ring_bytes, model.record_bytes, model.key_bytes);
  fmt::print(
      out,
      "  {} thread{} on {} CPUs, each {:.0f} firings a second over {:.0f} key{}; ring {:.0f} bytes, bufsize {:.0f}, aggsize "
      "{:.0f}\n",
      machine.threads, machine.threads == 1 ? "" : "s", machine.cpus, machine.rate, machine.keys, machine.keys == 1 ? "" : "s",
      simulated.buffers.ring, simulated.buffers.principal, simulated.buffers.aggregation);
  if (keeps_records(simulated)) fmt::print(out, "  bufpolicy {}\n", policy_name(simulated.buffers));
  print_heading(out, simulated, "");
  print_point(out, simulated, machine.rate, simulated.given);
  if (keeps_records(simulated)) print_full(out, simulated);
  print_drops(out, simulated);
  print_dynamic_drops(out, simulated);
  for (const Sweep& sweep : simulated.sweeps) {
    print_heading(out, simulated, sweep.name);
    for (const SimulationResult& point : sweep.points) print_point(out, simulated, value_of(point.machine, sweep.name), point);
  }
  if (!simulated.missing.empty()) fmt::print(out, "\n{}", unpriced_text(simulated.missing, "  "));
}

Json json_if_known(double value) { return value < 0 ? Json() : Json(value); }

Json json_of(const SimulationResult& point) {
  return {{"rate", point.machine.rate},
          {"threads", point.machine.threads},
          {"cpus", point.machine.cpus},
          {"keys", point.machine.keys},
          {"wakes", point.machine.wakes},
          {"as_machine_code", point.is_native},
          {"fired", point.fired},
          {"handled", point.handled},
          {"ring_drops", point.ring_drops},
          {"reads", point.reads},
          {"first_drop_seconds", json_if_known(point.first_drop)},
          {"dynamic_most_live", json_if_known(point.most_live)},
          {"dynamic_drops", point.dynamic_drops},
          {"first_dynamic_drop_seconds", json_if_known(point.first_dynamic_drop)},
          {"seconds", point.seconds},
          {"full_after_seconds", json_if_known(point.full_after)},
          {"kept_firings", point.kept},
          {"kept_seconds", kept_seconds(point)},
          {"report_seconds", point.report_seconds},
          {"threads_percent", 100 * point.thread_share},
          {"dvm_percent", 100 * point.dvm_share},
          {"consumer_percent", 100 * point.consumer_share}};
}

void print_json(std::FILE* out, const Simulated& simulated) {
  const FiringModel& model = model_of(simulated);
  Json json = {{"profile", {{"name", simulated.profile.name}, {"machine", simulated.profile.machine}}},
               {"engine", simulated.engine}};
  if (simulated.engine == "auto") json["translated_after_firings"] = simulated.model.translated_after;
  json["firing"] = {{"thread_ns", model.thread_ns}, {"rested_ns", model.woken_ns},    {"dvm_ns", model.dvm_ns},
                    {"print_ns", model.print_ns},   {"ring_bytes", model.ring_bytes}, {"record_bytes", model.record_bytes},
                    {"key_bytes", model.key_bytes}};
  json["buffers"] = {{"ring", simulated.buffers.ring},
                     {"bufsize", simulated.buffers.principal},
                     {"aggsize", simulated.buffers.aggregation},
                     {"bufpolicy", policy_name(simulated.buffers)}};
  json["given"] = json_of(simulated.given);
  json["first_drop_rate"] = simulated.first_drop_rate < 0 ? Json() : Json(simulated.first_drop_rate);
  for (const Sweep& sweep : simulated.sweeps)
    for (const SimulationResult& point : sweep.points) json["sweeps"][sweep.name].push_back(json_of(point));
  json["missing"] = simulated.missing;
  fmt::print(out, "{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

std::string draw(const Simulated& simulated) {
  const std::pair<const char*, double (*)(const SimulationResult&)> kinds[] = {
      {"threads", [](const SimulationResult& point) { return 100 * point.thread_share; }},
      {"dvm", [](const SimulationResult& point) { return 100 * point.dvm_share; }},
      {"consumer", [](const SimulationResult& point) { return 100 * point.consumer_share; }}};
  std::vector<Line> lines;
  for (const auto& [name, share] : kinds) {
    Line line{name, {}};
    for (const SimulationResult& point : simulated.sweeps.front().points)
      line.points.emplace_back(point.machine.rate, share(point));
    lines.push_back(std::move(line));
  }
  return draw_lines("Simulated cost of tracing over the rate of firings", "firings per second of each thread", "% of a CPU",
                    lines);
}

Result<runtime::PredictOptions> options_of(const SimulateCommand& given, const dif::Options& options, const Programs& programs) {
  runtime::PredictOptions made;
  made.probability = given.probability;
  made.sizes.expected = given.string_bytes;
  made.keys = given.machine.keys;
  runtime::take_options(made, options);
  made.wake_ups = 0;
  size_t probes = 0;
  for (const compiler::CompiledSource& program : programs)
    for (const dif::EcbDesc& clause : program.program.clauses)
      probes += static_cast<size_t>(std::count_if(clause.probes.begin(), clause.probes.end(),
                                                  [](const auto& description) { return !runtime::is_own_probe(description); }));
  if (probes == 0) return Error{"the script has no probe that a thread fires"};
  return made;
}

Status make_models(Simulated& simulated, const std::vector<const dif::Program*>& programs, const runtime::PredictOptions& how,
                   const dif::Options& options) {
  auto model = runtime::model_firing(programs, simulated.profile, how, options, simulated.missing);
  if (!model) return model.error();
  simulated.model = *std::move(model);
  const auto later = later_execution(options, simulated.profile);
  if (!later) return {};
  runtime::PredictOptions then = how;
  then.execution = later;
  std::set<std::string> missing;
  model = runtime::model_firing(programs, simulated.profile, then, options, missing);
  if (!model) return model.error();
  simulated.later = *std::move(model);
  simulated.missing.merge(missing);
  return {};
}

int simulate(const SimulateCommand& given) {
  Result<vm::Profile> profile = read_profile(given.profile);
  if (!profile) return fail("{}", profile.error().message);
  Result<dif::Options> options = run_time_options(given.script);
  if (!options) return fail("{}", options.error().message);
  Result<std::vector<compiler::Source>> sources = read_sources(given.script, *options);
  if (!sources) return fail("{}", sources.error().message);
  Result<Programs> programs = compile_untraced(*sources, given.script, true, *options);
  if (!programs) return fail("{}", programs.error().message);
  if (programs->empty()) return 1;
  auto how = options_of(given, *options, *programs);
  if (!how) return fail("{}", how.error().message);
  const Result<runtime::Execution> execution = execution_under(*options, *profile);
  if (!execution) return fail("{}", execution.error().message);
  how->execution = *execution;
  const Result<bool> by_agent = predicts_agent(*options, *profile);
  if (!by_agent) return fail("{}", by_agent.error().message);
  if (Status found = find_sources(*programs, given.script, *options, *by_agent, *how); !found)
    return fail("{}", found.error().message);
  std::vector<const dif::Program*> compiled;
  for (const compiler::CompiledSource& program : *programs) compiled.push_back(&program.program);
  Simulated simulated{*profile, std::string(engine_word(*options)), {}, {}, runtime::buffers_of(*options), {}, {}, -1, {}};
  if (Status made = make_models(simulated, compiled, *how, *options); !made) return fail("{}", made.error().message);
  simulated.given = simulate_on(simulated, given.machine, given.seconds);
  simulated.first_drop_rate =
      runtime::rate_of_first_drop(simulated.model, given.machine, simulated.buffers, given.seconds, kMostRate);
  add_sweeps(simulated, given.seconds);
  given.as_json ? print_json(stdout, simulated) : print(stdout, simulated);
  if (given.drawing.empty()) return 0;
  const Status written = write_file(given.drawing, draw(simulated));
  return written ? 0 : fail("{}", written.error().message);
}

void add_machine_options(CLI::App& command, runtime::SimulatedMachine& machine) {
  command.add_option("--rate", machine.rate, "Firings per second of each thread (default 1000)")
      ->type_name("N")
      ->check(CLI::Range(0.0, 1e9));
  command.add_option("--threads", machine.threads, "Threads that fire (default 1)")
      ->type_name("N")
      ->check(CLI::Range(1u, 100'000u));
  command.add_option("--cpus", machine.cpus, "CPUs of the machine (default 2)")->type_name("N")->check(CLI::Range(1u, 65536u));
  command.add_option("--keys", machine.keys, "Keys of an aggregation, and live keys of an associative array (default 1)")
      ->type_name("N")
      ->check(CLI::Range(1.0, 1e9));
  command
      .add_option("--slowdown", machine.slowdown,
                  "CPU slow-down relative to the profile; 1.3 to 1.8 when SMT siblings are busy (default 1)")
      ->type_name("N")
      ->check(CLI::Range(0.1, 100.0));
  command
      .add_option("--wakes", machine.wakes,
                  "How often per second each thread wakes from idle, if its rate leaves it the time (default 1000)")
      ->type_name("N")
      ->check(CLI::Range(0.0, 1e9));
  command.add_option("--rests", machine.wakes)->check(CLI::Range(0.0, 1e9))->group("");  // the earlier name
}

}  // namespace

void add_simulate(CLI::App& app, CommandAction& chosen) {
  auto given = std::make_shared<SimulateCommand>();
  CLI::App* command = add_command(app, "simulate", "Simulate how the cost of a script grows with rate, threads, CPUs and keys",
                                  {"dvm simulate --rate 50000 --threads 4 --cpus 8 script.d", "dvm simulate --check"});
  add_process_options(*command, given->script, false);
  add_script_options(*command, given->script, "[SCRIPT [ARGUMENT...]]");
  command
      ->add_option(
          "--profile", given->profile,
          "Take prices from this file, or from a profile that comes with dvm (pentium4-1700); default: that of this machine")
      ->type_name("PROFILE");
  add_machine_options(*command, given->machine);
  command->add_option("--seconds", given->seconds, "Simulated time in seconds (default 10)")
      ->type_name("N")
      ->check(CLI::Range(0.01, 600.0));
  command->add_option("--strings", given->string_bytes, "Expected length of a string in bytes (default 16)")
      ->type_name("N")
      ->check(CLI::Range(1.0, 1e9));
  command->add_option("--prob", given->probability, "Probability that a predicate holds (default 0.5)")
      ->type_name("N")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--svg", given->drawing, "Draw the cost over the rate to this file")->type_name("FILE");
  command->add_flag("--json", given->as_json, "Print the results as JSON");
  CLI::Option* check = command->add_flag("--check", given->check,
                                         "Simulate built-in workloads instead of a script, and measure them on this machine");
  command->add_option("--only", given->only, "With --check: check only this point; may be repeated")
      ->type_name("POINT")
      ->allow_extra_args(false)
      ->take_all()
      ->needs(check);
  command->add_flag("--quick", given->quick, "With --check: take one short sample, as a trial; too noisy for real use")
      ->needs(check);
  command->callback([given, &chosen] {
    chosen = [given] {
      return given->check ? check_simulation({given->profile, given->only, given->quick, given->as_json}) : simulate(*given);
    };
  });
}

}  // namespace dvm::cmd
