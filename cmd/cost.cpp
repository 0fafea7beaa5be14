// dvm cost: what a script will cost, by the analytic model, and whether the model is to be believed. Covered by
// tests/runtime/scenarios/test_cost.py.

#include <fmt/core.h>

#include <charconv>
#include <memory>
#include <thread>

#include "cmd/calibrate.h"
#include "cmd/command.h"
#include "cmd/cost_report.h"
#include "cmd/profiles.h"
#include "cmd/tracing.h"
#include "cmd/untraced.h"
#include "runtime/cost/profile_file.h"

namespace dvm::cmd {
namespace {

struct PredictCommand {
  ScriptOptions script;
  std::string profile, drawing;
  std::vector<std::string> rates;  // DESCRIPTION=N
  double probability = 0.5;
  double string_bytes = 16;
  unsigned cpus = std::max(1u, std::thread::hardware_concurrency());
  bool as_json = false;
};

// The description itself may have an equals sign in it nowhere, so the last one is meant.
Result<std::pair<std::string, double>> parse_rate(const std::string& text) {
  const size_t equals = text.rfind('=');
  double rate = 0;
  if (equals != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, rate);
    if (error == std::errc() && stop == end && rate >= 0 && rate < 1e12) return std::pair(text.substr(0, equals), rate);
  }
  return Error{fmt::format("--rate {}: it must be PROBE=N, N firings a second", text)};
}

Result<runtime::PredictOptions> predict_options(const PredictCommand& given, const dif::Options& options) {
  runtime::PredictOptions made;
  made.probability = given.probability;
  made.sizes.expected = given.string_bytes;
  made.sizes.most = static_cast<double>(options[dif::Option::strsize]) + 1;
  const auto switchrate = static_cast<double>(options[dif::Option::switchrate]);
  if (switchrate > 0) made.wake_ups = 1e9 / switchrate;
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

int show(const runtime::Prediction& prediction, const PredictionContext& context, const PredictCommand& given) {
  if (given.as_json)
    print_prediction_json(stdout, prediction, context);
  else
    print_prediction(stdout, prediction, context);
  if (given.drawing.empty()) return 0;
  const Status written = write_file(given.drawing, draw_prediction(prediction, context));
  return written ? 0 : fail("{}", written.error().message);
}

int predict(const PredictCommand& given) {
  Result<vm::Profile> profile = read_profile(given.profile);
  if (!profile) return fail("{}", profile.error().message);
  Result<dif::Options> options = run_time_options(given.script);
  if (!options) return fail("{}", options.error().message);
  Result<std::vector<compiler::Source>> sources = read_sources(given.script, *options);
  if (!sources) return fail("{}", sources.error().message);
  Result<Programs> programs = compile_untraced(*sources, given.script, true, *options);
  if (!programs) return fail("{}", programs.error().message);
  if (programs->empty()) return 1;
  Result<runtime::PredictOptions> how = predict_options(given, *options);
  if (!how) return fail("{}", how.error().message);
  std::vector<const dif::Program*> compiled;
  for (const compiler::CompiledSource& program : *programs) compiled.push_back(&program.program);
  const runtime::Prediction prediction = runtime::predict(compiled, *profile, *how);
  if (Status known = check_rates(*how, prediction); !known) return fail("{}", known.error().message);
  return show(prediction, {*profile, given.cpus}, given);
}

struct CalibrateCommand {
  CalibrateOptions options;
  std::string output, against;  // -o, --check
};

constexpr double kSame = 0.1;           // prices that differ by less are the same
constexpr double kMostDifferent = 0.1;  // share of the rows that may differ

int check_calibration(const vm::Profile& profile, const std::string& against) {
  Result<vm::Profile> before = read_profile(against);
  if (!before) return fail("{}", before.error().message);
  const Agreement agreement = compare_profiles(*before, profile, kSame);
  const size_t different = agreement.different.size();
  fmt::print("{} of {} rows agree within {:.0f} % or within their spread\n", agreement.rows - different, agreement.rows,
             100 * kSame);
  for (const std::string& row : agreement.different) fmt::print("  {}\n", row);
  return static_cast<double>(different) <= kMostDifferent * static_cast<double>(agreement.rows) && agreement.rows > 0 ? 0 : 1;
}

int run_calibrate(const CalibrateCommand& given) {
  const Result<vm::Profile> profile = calibrate(given.options);
  if (!profile) return fail("failed to calibrate: {}", profile.error().message);
  const std::string text = runtime::profile_text(*profile);
  if (given.output.empty() && given.against.empty()) fmt::print("{}", text);
  if (!given.output.empty())
    if (Status written = write_file(given.output, text); !written) return fail("{}", written.error().message);
  return given.against.empty() ? 0 : check_calibration(*profile, given.against);
}

struct ValidateCommand {
  std::vector<std::string> scripts;
  std::string profile;
  bool paper = false, quick = false, as_json = false;
};

int validate_paper(bool as_json) {
  Result<vm::Profile> profile = read_profile("pentium4-1700");
  if (!profile) return fail("{}", profile.error().message);
  const auto results = runtime::predict_experiments(*profile);
  if (!results) return fail("{}", results.error().message);
  if (as_json)
    print_experiments_json(stdout, *results, *profile);
  else
    print_experiments(stdout, *results, *profile);
  return 0;
}

void add_predict(CLI::App& cost, Action& chosen) {
  auto given = std::make_shared<PredictCommand>();
  CLI::App* command = cost.add_subcommand("predict", "Say what a script will cost, without tracing");
  add_script_options(*command, given->script, "[SCRIPT] [ARGUMENTS for $1, $2, ...]");
  add_process_options(*command, given->script);
  command->add_option("--profile", given->profile, "Prices: a file, or the name of one that comes with dvm (pentium4-1700)")
      ->type_name("PROFILE")
      ->required();
  command->add_option("--rate", given->rates, "How often a probe fires a second; as often as there are probes")
      ->type_name("PROBE=N")
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("--prob", given->probability, "How often a predicate holds (0.5)")->check(CLI::Range(0.0, 1.0));
  command->add_option("--strings", given->string_bytes, "Bytes of a string, as expected (16)")->check(CLI::Range(1.0, 1e9));
  command->add_option("--cpus", given->cpus, "CPUs of the machine (those of this one)")->check(CLI::Range(1u, 65536u));
  command->add_option("--svg", given->drawing, "Draw the stages of each probe")->type_name("FILE");
  command->add_flag("--json", given->as_json, "Print it as JSON");
  command->callback([given, &chosen] { chosen = [given] { return predict(*given); }; });
}

void add_calibrate(CLI::App& cost, Action& chosen) {
  auto given = std::make_shared<CalibrateCommand>();
  CLI::App* command = cost.add_subcommand("calibrate", "Measure the prices of this machine");
  command->add_option("-o", given->output, "Write the profile to this file, instead of standard output")->type_name("FILE");
  command
      ->add_option("--check", given->against,
                   "Compare with an earlier profile: exit status 1 if more than a tenth of the rows differ")
      ->type_name("PROFILE");
  command->add_flag("--quick", given->options.quick, "Few and short samples: to try it, not to rely on");
  command->callback([given, &chosen] { chosen = [given] { return run_calibrate(*given); }; });
}

// Each script by itself, on made-up firings.
Result<runtime::Validated> validate_script(const compiler::Source& source, const vm::Profile& profile,
                                           const ValidateCommand& given) {
  dif::Options options;
  auto programs = compile_sources({source}, {}, {}, options);
  if (programs.empty()) return Error{fmt::format("{} does not compile", source.name)};
  runtime::ScriptMeterOptions meter;
  if (given.quick) meter = {3, 2'000};
  Result<runtime::Validated> result = runtime::validate_program(programs.front().program, profile, meter);
  if (!result) return Error{fmt::format("{}: {}", source.name, result.error().message)};
  return result;
}

int validate_scripts(const ValidateCommand& given) {
  Result<vm::Profile> profile = read_profile(given.profile);
  if (!profile) return fail("{}", profile.error().message);
  std::vector<ValidatedScript> rows;
  for (const std::string& path : given.scripts) {
    Result<compiler::Source> source = read_file(path);
    if (!source) return fail("{}", source.error().message);
    Result<runtime::Validated> row = validate_script(*source, *profile, given);
    if (!row) return fail("{}", row.error().message);
    rows.push_back({path, std::move(*row)});
  }
  if (given.as_json)
    print_validated_json(stdout, rows, *profile);
  else
    print_validated(stdout, rows, *profile);
  return 0;
}

int validate(const ValidateCommand& given) {
  if (given.paper) return validate_paper(given.as_json);
  if (given.scripts.empty()) return fail("nothing to validate: give --paper, or scripts with --profile");
  if (given.profile.empty()) return fail("--profile is needed: dvm cost calibrate -o FILE measures one of this machine");
  return validate_scripts(given);
}

void add_validate(CLI::App& cost, Action& chosen) {
  auto given = std::make_shared<ValidateCommand>();
  CLI::App* command = cost.add_subcommand("validate", "Hold the model's predictions against measurements");
  command->add_option("scripts", given->scripts, "Scripts with clauses for replay:::firing, run on made-up firings")
      ->type_name("SCRIPT...");
  command->add_option("--profile", given->profile, "Prices of this machine")->type_name("PROFILE");
  command->add_flag("--paper", given->paper, "Instead: the paper's experiments, by its own parameters");
  command->add_flag("--quick", given->quick, "Few and short samples: to try it, not to rely on");
  command->add_flag("--json", given->as_json, "Print it as JSON");
  command->callback([given, &chosen] { chosen = [given] { return validate(*given); }; });
}

}  // namespace

void add_cost(CLI::App& app, Action& chosen) {
  CLI::App* cost = app.add_subcommand("cost", "What probes cost: predictions by the analytic model");
  cost->require_subcommand(1);
  add_calibrate(*cost, chosen);
  add_predict(*cost, chosen);
  add_validate(*cost, chosen);
}

}  // namespace dvm::cmd
