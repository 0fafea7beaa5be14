// Covered by tests/runtime/scenarios/test_predict_live.py.

#include "cmd/live_script.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>

#include "cmd/firing_source.h"
#include "cmd/libraries.h"
#include "cmd/profiles.h"
#include "lab/calibrate/quiet_polls.h"

namespace dvm::cmd {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

class LiveProgram final : public lab::TracedProgram {
 public:
  LiveProgram(File nowhere, runtime::HandleConfig config, Targets targets)
      : nowhere_(std::move(nowhere)), targets_(std::move(targets)), handle_(std::move(config)) {}

  runtime::Handle& handle() override { return handle_; }
  std::vector<const dif::Program*> programs() const override {
    std::vector<const dif::Program*> all;
    for (const ReadyProgram& one : ready_) all.push_back(&one.program);
    return all;
  }

  Status compile(const std::vector<compiler::Source>& sources, const ScriptOptions& script, FiringSource& source) {
    if (Status added = add_source(handle_, source); !added) return added;
    ready_ = compile_live(handle_, sources, script, source.target);
    for (const ReadyProgram& one : ready_)
      if (Status enabled = handle_.enable(one.program); !enabled) return enabled;
    return {};
  }

 private:
  File nowhere_;
  Targets targets_;
  std::vector<ReadyProgram> ready_;  // the handle's ECBs are made of them
  runtime::Handle handle_;
};

// Often enough that a sample has several, as a run of some time has.
constexpr const char* kRates[] = {"switchrate=100ms", "aggrate=100ms"};

Result<std::string> find_workload() {
  std::string path = (own_folder() / "workload").string();
  if (access(path.c_str(), X_OK) == 0) return path;
  return Error{
      fmt::format("failed to find {}: {}\n    hint: it is the program that is traced here, installed with dvm; in a build tree "
                  "'cmake --build . --target dvm' makes it",
                  path, std::strerror(errno))};
}

}  // namespace

Result<std::unique_ptr<lab::TracedProgram>> open_live_script(const std::vector<compiler::Source>& sources,
                                                             const ScriptOptions& script, const dif::Options& options,
                                                             vm::CostPolicy cost) {
  File nowhere(std::fopen("/dev/null", "we"), std::fclose);
  if (!nowhere) return Error{"failed to open /dev/null"};
  Result<FiringSource> source = open_live_source(script, options);
  if (!source) return source.error();
  runtime::HandleConfig config;
  config.options = options;
  config.out = config.err = nowhere.get();
  config.cost = cost;
  config.target = source->target;
  auto live = std::make_unique<LiveProgram>(std::move(nowhere), std::move(config), std::move(source->targets));
  if (Status compiled = live->compile(sources, script, *source); !compiled) return compiled.error();
  if (live->programs().empty()) return std::unique_ptr<lab::TracedProgram>();
  return std::unique_ptr<lab::TracedProgram>(std::move(live));
}

Result<ExperimentBasis> prepare_experiments(const std::string& profile) {
  Result<vm::Profile> prices = read_profile(profile);
  if (!prices) return prices.error();
  Result<std::string> workload = find_workload();
  if (!workload) return workload.error();
  std::signal(SIGPIPE, SIG_IGN);
  lab::measure_as(*prices);
  return ExperimentBasis{*std::move(prices), *std::move(workload)};
}

Result<std::unique_ptr<lab::TracedProgram>> open_traced(std::string_view text, std::string_view settings, int32_t pid) {
  ScriptOptions script;
  script.programs.push_back({GivenProgram::Form::name, std::string(text)});
  script.pids = {pid};
  script.settings.assign(std::begin(kRates), std::end(kRates));
  std::istringstream words{std::string(settings)};
  for (std::string word; words >> word;) script.settings.push_back(word);
  const Result<dif::Options> options = run_time_options(script);
  if (!options) return options.error();
  const Result<std::vector<compiler::Source>> sources = read_sources(script, *options);
  if (!sources) return sources.error();
  auto live = open_live_script(*sources, script, *options, vm::CostPolicy::none);
  if (live && !*live) return Error{"its script does not compile here"};
  return live;
}

}  // namespace dvm::cmd
