// dvm replay: a script on recorded events, without privileges. Covered by tests/runtime/scenarios/test_recording.py.

#include "runtime/instrument/replay/replay.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cmd/command.h"
#include "cmd/recording_info.h"
#include "cmd/tracing.h"
#include "runtime/provider/providers.h"

namespace dvm::cmd {
namespace {

struct ReplayCommand {
  TracingOptions tracing;
  std::string file;
  bool info = false;
};

// The probes of processes are the recorded ones; the provider that looks into live processes is left out.
Result<FiringSource> open_recording(const std::string& path) {
  Result<std::unique_ptr<runtime::RecordingReader>> reader = runtime::RecordingReader::open(path);
  if (!reader) return reader.error();
  FiringSource source;
  source.is_replay = true;
  source.replayed = {(*reader)->events(), (*reader)->size(), (*reader)->pieces()};
  source.target = (*reader)->target_pid();
  source.probes = (*reader)->probes();
  source.processes = (*reader)->processes();
  source.kernel = (*reader)->kernel();
  source.symbols = (*reader)->symbols();
  for (auto& provider : runtime::make_providers())
    if (provider->name() != "pid") source.providers.push_back(std::move(provider));
  source.instruments.push_back({runtime::make_replay_instrument(std::move(*reader)), ""});
  return source;
}

int print_info(const ReplayCommand& given) {
  const ScriptOptions& script = given.tracing.script;
  if (!script.operands.empty() || !script.programs.empty()) return fail("--info runs no script"), 2;
  const Result<dif::Options> options = run_time_options(script);
  if (!options) return fail("{}", options.error().message);
  return print_recording_info(given.file, (*options)[dif::Option::demangle] > 0);
}

}  // namespace

void add_replay(CLI::App& app, CommandAction& chosen) {
  auto given = std::make_shared<ReplayCommand>();
  CLI::App* command = add_command(app, "replay", "Run a script on recorded events",
                                  {"dvm replay --info trace.dvm", "dvm replay trace.dvm script.d",
                                   "dvm replay trace.dvm -n 'pid$target:::entry { @[probefunc] = count(); }'"});
  command->add_option("RECORDING", given->file, "File that dvm record wrote")->type_name("FILE")->required();
  add_script_options(*command, given->tracing.script, "[SCRIPT [ARGUMENT...]]");
  add_tracing_options(*command, given->tracing, true);
  add_run_options(*command, given->tracing);
  command
      ->add_flag("--ledger{here}", given->tracing.ledger,
                 "Price the run by a profile (default: that of this machine) and compare with its measured time")
      ->type_name("[=PROFILE]");
  command->add_flag("--info", given->info, "Print a summary of the recording, and exit");
  command->callback([given, &chosen] {
    if (given->info) {
      chosen = [given] { return print_info(*given); };
      return;
    }
    const auto open = [given](const dif::Options&, int) { return open_recording(given->file); };
    chosen = [given, open] { return trace(given->tracing, open).status; };
  });
}

}  // namespace dvm::cmd
