// dvm cost: what a script will cost, by the analytic model, and whether the model is to be believed. Covered by
// tests/runtime/scenarios/test_cost.py.

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <memory>

#include "cmd/calibrate.h"
#include "cmd/command.h"
#include "cmd/cost_report.h"
#include "cmd/predict.h"
#include "cmd/profiles.h"
#include "cmd/progress.h"
#include "cmd/read_file.h"
#include "cmd/script.h"
#include "cmd/validate_live.h"
#include "common/output_file.h"
#include "lab/calibrate/quiet_polls.h"
#include "runtime/cost/profile_file.h"

namespace dvm::cmd {
namespace {

struct CalibrateCommand {
  CalibrateOptions options;
  std::string output, against;  // -o, --check
};

constexpr double kSame = 0.1;           // prices that differ by less are the same
constexpr double kMostDifferent = 0.1;  // share of the rows that may differ

int check_calibration(const vm::Profile& profile, const vm::Profile& before) {
  const Agreement agreement = compare_profiles(before, profile, kSame);
  const size_t different = agreement.different.size();
  fmt::print("{} of {} rows agree within {:.0f} % or within their spread\n", agreement.rows - different, agreement.rows,
             100 * kSame);
  for (const std::string& row : agreement.different) fmt::print("  {}\n", row);
  return static_cast<double>(different) <= kMostDifferent * static_cast<double>(agreement.rows) && agreement.rows > 0 ? 0 : 1;
}

// Destination of the profile: "-" is standard output. Without -o it becomes that of this machine, unless --check only compares
// it.
Result<std::string> destination(const CalibrateCommand& given) {
  if (!given.output.empty()) return given.output;
  if (!given.against.empty()) return std::string();
  const std::string path = default_profile_path();
  if (path.empty()) return Error{"there is no home directory to keep the profile in: name a file with -o"};
  std::error_code error;  // what cannot be made, cannot be written to
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  return path;
}

// Checks first, so that the user does not wait for a calibration before the error.
Status check_writable(const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty() || path == "-") return {};
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) return cannot_write(path, EISDIR);
  const bool is_device = fs::is_other(path, unknown);
  const fs::path folder = fs::path(path).parent_path(), place = is_device ? fs::path(path) : folder.empty() ? "." : folder;
  return access(place.c_str(), W_OK) == 0 ? Status() : cannot_write(path, errno);
}

Status keep_profile(const CalibrateCommand& given, const std::string& path, const std::string& text) {
  if (path == "-") fmt::print("{}", text);
  if (path.empty() || path == "-") return {};
  if (Status written = write_file(path, text); !written) return written;
  if (given.output.empty()) fmt::print(stderr, "dvm: wrote the profile of this machine to {}\n", path);
  return {};
}

int run_calibrate(const CalibrateCommand& given) {
  vm::Profile before;
  if (!given.against.empty()) {
    Result<vm::Profile> read = read_profile(given.against);
    if (!read) return fail("{}", read.error().message);
    before = std::move(*read);
  }
  const Result<std::string> path = destination(given);
  if (!path) return fail("{}", path.error().message);
  if (Status writable = check_writable(*path); !writable) return fail("{}", writable.error().message);
  CalibrateOptions options = given.options;
  if (options.base.empty()) options.base = given.output == "-" || given.output.empty() ? "" : given.output;
  const Result<vm::Profile> profile = calibrate(options);
  if (!profile) return fail("failed to calibrate: {}", profile.error().message);
  if (const std::string warning = disturbance(*profile); !warning.empty()) fmt::print(stderr, "dvm: warning: {}\n", warning);
  if (Status kept = keep_profile(given, *path, runtime::profile_text(*profile)); !kept) return fail("{}", kept.error().message);
  return given.against.empty() ? 0 : check_calibration(*profile, before);
}

struct ValidateCommand {
  std::vector<std::string> scripts, only;
  std::string profile, report, engine = "interp";
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

void add_calibrate(CLI::App& cost, CommandAction& chosen) {
  auto given = std::make_shared<CalibrateCommand>();
  CLI::App* command = add_command(
      cost, "calibrate", "Measure the prices of this machine",
      {"dvm cost calibrate", "dvm cost calibrate --only agent", "dvm cost calibrate -o other.json --check profile.json"});
  command
      ->add_option(
          "-o", given->output,
          "Write the profile to this file, or to standard output for - (default: keep it as the profile of this machine)")
      ->type_name("FILE");
  command
      ->add_option("--check", given->against,
                   "Compare with an earlier profile; exit with status 1 if more than a tenth of the rows differ")
      ->type_name("PROFILE");
  command->add_flag("--quick", given->options.quick, "Take few and short samples, as a trial; too noisy for real use");
  command
      ->add_option("--only", given->options.only,
                   "Measure only rows whose name begins with these parts, such as agent; keep the others of the profile")
      ->type_name("ROW");
  command->add_option("--base", given->options.base)->group("");
  command->add_option("--pass", given->options.pass)->group("");  // calibrate() runs itself
  command->add_flag("--brief", given->options.brief)->group("");
  command->add_option("--patient-until", given->options.patient_until)->group("");
  command->add_option("--core-speed", given->options.core_speed)->group("");
  command->add_option("--quiet-near", given->options.quiet_core.near)->group("");
  command->add_option("--quiet-far", given->options.quiet_core.far)->group("");
  command->callback([given, &chosen] { chosen = [given] { return run_calibrate(*given); }; });
}

Result<lab::ProgramValidation> begin_validation(const std::string& path, unsigned samples, const runtime::Execution& execution) {
  Result<compiler::Source> source = read_file(path);
  if (!source) return source.error();
  dif::Options options;
  auto programs = compile_sources({*source}, {}, {}, options);
  if (programs.empty()) return Error{fmt::format("{} does not compile", path)};
  auto made = lab::ProgramValidation::make(std::move(programs.front().program), samples, execution);
  if (!made) return Error{fmt::format("{}: {}", path, made.error().message)};
  return made;
}

unsigned samples_of(const ValidateCommand& given) { return given.quick ? 3 : 9; }

Status sample_scripts(const ValidateCommand& given, std::vector<lab::ProgramValidation>& scripts) {
  const uint64_t firings = given.quick ? 2'000 : 50'000;
  Progress progress;
  size_t round = 0;  // in each a sample of those that want more
  for (bool again = true; again; round++) {
    again = false;
    for (size_t i = 0; i < scripts.size(); i++) {
      if (!scripts[i].wants_more()) continue;
      again = true;
      progress.say(fmt::format("validating, sample {}", round + 1), i, scripts.size());
      if (Status sampled = scripts[i].sample(firings); !sampled)
        return Error{fmt::format("{}: {}", given.scripts[i], sampled.error().message)};
    }
  }
  return {};
}

// Each script by itself, on synthetic firings.
int validate_scripts(const ValidateCommand& given) {
  Result<vm::Profile> profile = read_profile(given.profile);
  if (!profile) return fail("{}", profile.error().message);
  const auto engine = given.engine == "llvm" ? runtime::EngineId::llvm : runtime::EngineId::interp;
  const Result<runtime::Execution> execution = execution_on(engine, *profile);
  if (!execution) return fail("{}", execution.error().message);
  lab::measure_as(*profile);
  std::vector<lab::ProgramValidation> scripts;
  for (const std::string& path : given.scripts) {
    Result<lab::ProgramValidation> made = begin_validation(path, samples_of(given), *execution);
    if (!made) return fail("{}", made.error().message);
    scripts.push_back(std::move(*made));
  }
  if (Status sampled = sample_scripts(given, scripts); !sampled) return fail("{}", sampled.error().message);
  std::vector<ValidatedScript> rows;
  for (size_t i = 0; i < scripts.size(); i++) rows.push_back({given.scripts[i], scripts[i].finish(*profile)});
  if (given.as_json)
    print_validated_json(stdout, rows, *profile, given.engine);
  else
    print_validated(stdout, rows, *profile, given.engine);
  return 0;
}

int validate(const ValidateCommand& given) {
  if (given.paper) return validate_paper(given.as_json);
  if (given.scripts.empty()) return validate_live({given.profile, given.only, given.report, given.quick, given.as_json});
  return validate_scripts(given);
}

void add_validate(CLI::App& cost, CommandAction& chosen) {
  auto given = std::make_shared<ValidateCommand>();
  CLI::App* command = add_command(cost, "validate", "Compare the model's predictions with measurements",
                                  {"dvm cost validate script.d", "dvm cost validate --only d --report report.md"});
  command
      ->add_option("SCRIPT", given->scripts,
                   "Scripts with clauses for replay:::firing, run on synthetic firings (default: experiments on live processes)")
      ->type_name("SCRIPT");
  command->add_option("--profile", given->profile, "Take prices from this profile (default: that of this machine)")
      ->type_name("PROFILE");
  command->add_option("--only", given->only, "Without scripts: run only this experiment, or this group (a, c, d, e, f)")
      ->type_name("ROW")
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("--report", given->report, "Without scripts: also write a Markdown page, with its drawings beside it")
      ->type_name("FILE");
  command
      ->add_option("--engine", given->engine,
                   "Run scripts on this engine, and predict them by its prices: interp (default) or llvm")
      ->type_name("ENGINE")
      ->check(CLI::IsMember({"interp", "llvm"}))
      ->needs(command->get_option("SCRIPT"));
  command->add_flag("--paper", given->paper, "Repeat the paper's experiments with its own parameters instead");
  command->add_flag("--quick", given->quick, "Take few and short samples, as a trial; too noisy for real use");
  command->add_flag("--json", given->as_json, "Print the results as JSON");
  command->callback([given, &chosen] { chosen = [given] { return validate(*given); }; });
}

}  // namespace

void add_cost(CLI::App& app, CommandAction& chosen) {
  CLI::App* cost =
      add_command(app, "cost", "Predict the cost of probes; measure the prices of this machine",
                  {"dvm cost calibrate", "dvm cost calibrate --only agent", "dvm cost predict script.d --sample 2s -p 1234"});
  cost->require_subcommand(1);
  add_calibrate(*cost, chosen);
  add_predict(*cost, chosen);
  add_validate(*cost, chosen);
}

}  // namespace dvm::cmd
