// Predictions, of scripts and of runs. Covered by tests/runtime/scenarios/test_cost.py, test_predict_live.py.

#include "cmd/predict.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>

#include "cmd/cost_report.h"
#include "cmd/firing_source.h"
#include "cmd/live_script.h"
#include "cmd/profiles.h"
#include "cmd/untraced.h"
#include "cmd/waiting.h"
#include "common/output_file.h"
#include "runtime/cost/runs/agent_ways.h"
#include "runtime/cost/runs/sample.h"

namespace dvm::cmd {
namespace {

using ProgramPointers = std::vector<const dif::Program*>;

constexpr double kLongestSample = 3600;

struct PredictCommand {
  ScriptOptions script;
  PredictionOptions how;
  std::string drawing;
  bool as_json = false;
};

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return {};
  return value;
}

// The description itself may have an equals sign in it nowhere, so the last one is meant.
Result<std::pair<std::string, double>> parse_rate(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals != std::string::npos)
    if (const auto rate = parse_number(text.substr(equals + 1)); rate && *rate >= 0 && *rate < 1e12)
      return std::pair(text.substr(0, equals), *rate);
  return Error{fmt::format("--rate {}: must be PROBE=N, with N firings per second", text)};
}

// In seconds: "2s", "500ms"; without a unit seconds, too.
Result<double> parse_sample(const std::string& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string unit = text.substr(digits);
  const double scale = unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : unit.empty() || unit == "s" ? 1 : 0;
  const auto count = parse_number(std::string_view(text).substr(0, digits));
  if (count && scale > 0 && *count > 0 && *count * scale <= kLongestSample) return *count * scale;
  return Error{fmt::format("--sample {}: must be a time up to an hour, like 2s or 500ms", text)};
}

Result<double> parse_probability(const std::string& text) {
  if (text.empty() || text == "measured") return 0.5;
  const auto share = parse_number(text);
  if (share && *share >= 0 && *share <= 1) return *share;
  return Error{fmt::format("--prob {}: must be a number from 0 to 1, or measured", text)};
}

Result<runtime::PredictOptions> predict_options(const PredictionOptions& given, const dif::Options& options,
                                                const vm::Profile& profile) {
  runtime::PredictOptions made;
  const Result<runtime::Execution> execution = execution_under(options, profile);
  if (!execution) return execution.error();
  made.execution = *execution;
  const Result<double> probability = parse_probability(given.probability);
  if (!probability) return probability.error();
  made.probability = *probability;
  made.sizes.expected = given.string_bytes;
  made.sizes.frames = given.frames;
  made.keys = given.keys;
  made.returns = given.returns;
  made.faults = given.faults;
  made.heap = given.heap;
  made.wakes = given.wakes;
  runtime::take_options(made, options);
  for (const std::string& text : given.rates) {
    Result<std::pair<std::string, double>> rate = parse_rate(text);
    if (!rate) return rate.error();
    made.rates.insert(*rate);
  }
  return made;
}

// A rate that no probe has is a misspelt one.
Status check_rates(const runtime::PredictOptions& options, const runtime::Prediction& prediction) {
  for (const auto& [description, rate] : options.rates) {
    bool found = false;
    for (const runtime::ProbePrediction& probe : prediction.probes) found |= probe.description == description;
    if (!found) return Error{fmt::format("--rate: the script has no probe {}", description)};
  }
  return {};
}

void report_uncounted(const std::vector<runtime::Refused>& refused) {
  if (refused.empty()) return;
  const runtime::Probe& first = *refused.front().probe;
  tell("{} probe{} not counted, {}:{}:{}:{}: {}", refused.size(), refused.size() == 1 ? "" : "s", first.provider, first.module,
       first.function, first.name, refused.front().reason);
}

// Counts firings, and weights the instructions under the probes by them. Rates that were given stay as they are.
Status count_rates(runtime::Handle& handle, const ProgramPointers& programs, double seconds, runtime::PredictOptions& how) {
  std::vector<runtime::Refused> refused;
  auto rates = [&] {
    const WaitMessage waiting(fmt::format("counting firings for {} s", seconds));
    return runtime::sample_rates(handle, programs, seconds, refused);
  }();
  if (!rates) return Error{"could not count firings: " + rates.error().message};
  report_uncounted(refused);
  how.rates.merge(rates->of_descriptions);
  how.sources = runtime::find_sources(handle, programs, rates->of_probes);
  return {};
}

// If the run would have one.
Status add_agent(runtime::Handle& handle, const ProgramPointers& programs, const vm::Profile& profile,
                 runtime::PredictOptions& how) {
  const Result<bool> by_agent = predicts_agent(handle.options(), profile);
  if (!by_agent) return by_agent.error();
  return *by_agent ? runtime::add_agent_ways(handle, programs, how) : Status();
}

// A prediction, and under engine=auto another one of what its clauses become.
struct PredictedRun {
  runtime::Prediction first;
  std::optional<runtime::Prediction> later;
  std::vector<runtime::EngineChange> changes;
};

// Rates that were given or counted stay as they are.
Result<PredictedRun> predict(const ProgramPointers& programs, const vm::Profile& profile, unsigned cpus,
                             const dif::Options& options, runtime::PredictOptions& how) {
  runtime::add_timer_rates(programs, cpus, how);
  PredictedRun made{runtime::predict(programs, profile, how), {}, {}};
  if (Status known = check_rates(how, made.first); !known) return known.error();
  if (changes_engine(options)) made.changes = runtime::engine_changes(made.first, profile.clock_hz);
  if (const auto later = later_execution(options, profile)) {
    runtime::PredictOptions then = how;
    then.execution = later;
    made.later = runtime::predict(programs, profile, then);
  }
  return made;
}

PredictionContext context_of(const PredictedRun& predicted, const vm::Profile& profile, const PredictionOptions& how,
                             double counted, const dif::Options& options) {
  return {profile,          how.cpus, counted, std::string(engine_word(options)), predicted.later ? &*predicted.later : nullptr,
          predicted.changes};
}

int show(const PredictedRun& predicted, const PredictionContext& context, const PredictCommand& given) {
  if (given.as_json)
    print_prediction_json(stdout, predicted.first, context);
  else
    print_prediction(stdout, predicted.first, context);
  if (given.drawing.empty()) return 0;
  const Status written = write_file(given.drawing, draw_prediction(predicted.first, context));
  return written ? 0 : fail("{}", written.error().message);
}

// The script really runs, only without output, so it must not be destructive.
Status measure_clauses(lab::TracedProgram& live, double seconds, runtime::PredictOptions& how) {
  dif::Options& options = live.handle().options();
  if (options[dif::Option::destructive] > 0)
    return Error{"--prob measured runs the script, and this script may be destructive: use --prob N"};
  for (const char* rate : {"switchrate", "aggrate"})
    if (Status set = options.set(rate, "50ms"); !set) return set;
  auto measured = [&] {
    const WaitMessage waiting(fmt::format("measuring predicates for {} s", seconds));
    return runtime::sample_clauses(live.handle(), seconds);
  }();
  if (!measured) return Error{"could not measure predicates: " + measured.error().message};
  how.measured = std::move(*measured);
  return {};
}

int predict_live(const std::vector<compiler::Source>& sources, const PredictCommand& given, const vm::Profile& profile,
                 const dif::Options& options, double seconds) {
  auto live = open_live_script(sources, given.script, options, vm::CostPolicy::blocks);
  if (!live) return fail("{}", live.error().message);
  if (!*live) return 1;
  const ProgramPointers programs = (*live)->programs();
  Result<runtime::PredictOptions> how = predict_options(given.how, (*live)->handle().options(), profile);
  if (!how) return fail("{}", how.error().message);
  Status sampled = count_rates((*live)->handle(), programs, seconds, *how);
  if (sampled) sampled = add_agent((*live)->handle(), programs, profile, *how);
  if (sampled && given.how.measures_clauses()) sampled = measure_clauses(**live, seconds, *how);
  if (!sampled) return fail("{}", sampled.error().message);
  const dif::Options& run = (*live)->handle().options();
  const auto predicted = predict(programs, profile, given.how.cpus, run, *how);
  if (!predicted) return fail("{}", predicted.error().message);
  return show(*predicted, context_of(*predicted, profile, given.how, seconds, run), given);
}

int predict_untraced(const std::vector<compiler::Source>& sources, const PredictCommand& given, const vm::Profile& profile,
                     dif::Options options) {
  Result<Programs> programs = compile_untraced(sources, given.script, true, options);
  if (!programs) return fail("{}", programs.error().message);
  if (programs->empty()) return 1;
  Result<runtime::PredictOptions> how = predict_options(given.how, options, profile);
  if (!how) return fail("{}", how.error().message);
  const Result<bool> by_agent = predicts_agent(options, profile);
  if (!by_agent) return fail("{}", by_agent.error().message);
  if (Status found = find_sources(*programs, given.script, options, *by_agent, *how); !found)
    return fail("{}", found.error().message);
  ProgramPointers compiled;
  for (const compiler::CompiledSource& program : *programs) compiled.push_back(&program.program);
  const auto predicted = predict(compiled, profile, given.how.cpus, options, *how);
  if (!predicted) return fail("{}", predicted.error().message);
  return show(*predicted, context_of(*predicted, profile, given.how, 0, options), given);
}

Result<double> sample_of(const PredictionOptions& how, const ScriptOptions& script) {
  if (how.sample.empty()) {
    if (how.measures_clauses()) return Error{"--prob measured needs --sample TIME, the time to measure"};
    return 0.0;
  }
  if (!script.commands.empty()) return Error{"--sample counts firings of running processes: use -p PID instead of -c"};
  return parse_sample(how.sample);
}

int predict(const PredictCommand& given) {
  Result<vm::Profile> profile = read_profile(given.how.profile);
  if (!profile) return fail("{}", profile.error().message);
  Result<double> seconds = sample_of(given.how, given.script);
  if (!seconds) return fail("{}", seconds.error().message);
  Result<dif::Options> options = run_time_options(given.script);
  if (!options) return fail("{}", options.error().message);
  Result<std::vector<compiler::Source>> sources = read_sources(given.script, *options);
  if (!sources) return fail("{}", sources.error().message);
  if (*seconds > 0) return predict_live(*sources, given, *profile, *options, *seconds);
  return predict_untraced(*sources, given, *profile, *options);
}

}  // namespace

void add_prediction_options(CLI::App& command, PredictionOptions& options, const std::string& needs_also) {
  std::vector<CLI::Option*> all;
  const auto add = [&](const char* name, auto& value, const char* text, const char* of = "N") {
    return all.emplace_back(command.add_option(name, value, text)->type_name(of));
  };
  add("--profile", options.profile,
      "Take prices from this file, or from a profile that comes with dvm (pentium4-1700); default: that of this machine",
      "PROFILE");
  add("--rate", options.rates, "Set how often a probe fires, per second; may be repeated", "PROBE=N")
      ->allow_extra_args(false)
      ->take_all();
  add("--sample", options.sample, "Measure first how often the probes fire, for this long, such as 2s", "TIME");
  add("--prob", options.probability,
      "Probability that a predicate holds (default 0.5); measured: take predicates and branches from a run");
  add("--strings", options.string_bytes, "Expected length of a string in bytes (default 16)")->check(CLI::Range(1.0, 1e9));
  add("--frames", options.frames, "Expected number of frames of a stack (default 10)")->check(CLI::Range(1.0, 127.0));
  add("--returns", options.returns,
      "Function returns between a firing and the next call (default 0). After a trap, some processors execute each of them more "
      "slowly. An agent walks that many frames of a stack again")
      ->check(CLI::Range(0.0, 1e3));
  add("--heap", options.heap,
      "Share of strings and copied memory on the heap, 0 to 1 (default 0.5). In most processes, an agent reads the heap by "
      "plain loads. Other memory that may be unmapped costs a system call")
      ->check(CLI::Range(0.0, 1.0));
  add("--faults", options.faults, "Share of clauses that cannot read memory of the process, 0 to 1 (default 0)")
      ->check(CLI::Range(0.0, 1.0));
  add("--wakes", options.wakes,
      "How often per second threads wake from idle, in total (default 1000). The first firing after a wake-up costs more")
      ->check(CLI::Range(0.0, 1e9));
  command.add_option("--rests", options.wakes)->check(CLI::Range(0.0, 1e9))->group("");  // the earlier name
  add("--keys", options.keys, "Expected number of keys of an aggregation or an associative array (default 10)")
      ->check(CLI::Range(0.0, 1e9));
  add("--cpus", options.cpus, "CPUs on which threads and profile-N fire (default: those of this machine)")
      ->check(CLI::Range(1u, 65536u));
  if (needs_also.empty()) return;
  for (CLI::Option* option : all) option->needs(needs_also)->group("With " + needs_also);
}

Status print_run_prediction(std::FILE* out, runtime::Handle& handle, const std::vector<const dif::Program*>& programs,
                            const ScriptOptions& script, const PredictionOptions& given) {
  Result<vm::Profile> profile = read_profile(given.profile);
  if (!profile) return profile.error();
  if (given.measures_clauses()) return Error{"--prob measured works only with dvm cost predict"};
  const Result<double> seconds = sample_of(given, script);
  if (!seconds) return seconds.error();
  Result<runtime::PredictOptions> how = predict_options(given, handle.options(), *profile);
  if (!how) return how.error();
  if (*seconds == 0) how->sources = runtime::find_sources(handle, programs);
  if (*seconds > 0)
    if (Status counted = count_rates(handle, programs, *seconds, *how); !counted) return counted;
  if (Status added = add_agent(handle, programs, *profile, *how); !added) return added;
  const auto predicted = predict(programs, *profile, given.cpus, handle.options(), *how);
  if (!predicted) return predicted.error();
  print_prediction(out, predicted->first, context_of(*predicted, *profile, given, *seconds, handle.options()));
  std::fflush(out);
  return {};
}

void add_predict(CLI::App& cost, CommandAction& chosen) {
  auto given = std::make_shared<PredictCommand>();
  CLI::App* command = add_command(
      cost, "predict", "Predict the cost of a script, without tracing",
      {"dvm cost predict script.d --rate 'pid$target:libc:malloc:entry=20000'", "dvm cost predict script.d --sample 2s -p 1234"});
  add_process_options(*command, given->script, false);
  add_script_options(*command, given->script, "[SCRIPT [ARGUMENT...]]");
  add_prediction_options(*command, given->how);
  command->add_option("--svg", given->drawing, "Draw the stages of each probe to this file")->type_name("FILE");
  command->add_flag("--json", given->as_json, "Print the prediction as JSON");
  command->callback([given, &chosen] { chosen = [given] { return predict(*given); }; });
}

}  // namespace dvm::cmd
