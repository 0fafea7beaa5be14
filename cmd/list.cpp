// dvm list: the probes that descriptions match, as dtrace -l prints them. Covered by tests/runtime/scenarios/test_list.py.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cmd/command.h"
#include "cmd/firing_source.h"
#include "cmd/listing.h"
#include "cmd/targets.h"
#include "runtime/backend/local/live.h"
#include "runtime/provider/providers.h"

namespace dvm::cmd {
namespace {

bool has_body(const dif::Program& program) {
  return std::any_of(program.clauses.begin(), program.clauses.end(),
                     [](const dif::EcbDesc& one) { return one.predicate || !one.actions.empty(); });
}

int list(const ScriptOptions& given, bool is_verbose) {
  Result<dif::Options> options = run_time_options(given);
  if (!options) return fail("{}", options.error().message);
  const Result<std::vector<compiler::Source>> sources = read_sources(given, *options);
  if (!sources) return fail("{}", sources.error().message);
  Result<Targets> targets = Targets::open(given, *options);
  if (!targets) return fail("{}", targets.error().message);
  runtime::HandleConfig config;
  config.options = *options;
  runtime::Handle handle(config);
  for (auto& provider : runtime::make_providers()) handle.add_provider(std::move(provider));
  for (auto& [instrument, aside] : runtime::make_live_instruments(*options)) handle.add_instrument(std::move(instrument), aside);
  number_probes(handle);
  const pid_t target = targets->first();
  const std::vector<ReadyProgram> compiled = compile_live(handle, *sources, given, target);
  if (compiled.empty()) return 1;
  std::vector<const dif::Program*> programs;
  for (const ReadyProgram& one : compiled) {
    programs.push_back(&one.program);
    if (!is_verbose || !has_body(one.program)) continue;
    if (Status enabled = handle.enable(one.program); !enabled) return fail("{}", enabled.error().message);
  }
  return list_probes(handle, programs, is_verbose ? describe_with_sites(handle, given, compiled, target) : DescribeProbes(),
                     NoMatch::fails, stdout);
}

// Descriptions are programs without a body.
ScriptOptions as_programs(ScriptOptions given) {
  for (std::string& description : given.operands) given.programs.push_back({GivenProgram::Form::name, std::move(description)});
  given.operands.clear();
  return for_listing(std::move(given));
}

}  // namespace

void add_list(CLI::App& app, CommandAction& chosen) {
  auto given = std::make_shared<ScriptOptions>();
  auto is_verbose = std::make_shared<bool>(false);
  CLI::App* command = add_command(app, "list", "List the probes that match descriptions or scripts",
                                  {"dvm list 'pid$target:libc:str*:entry' -p 1234", "dvm list -v 'syscall::open*:'"});
  add_programs(*command, *given);
  command->add_option("DESCRIPTION", given->operands, "provider:module:function:name; fields may be empty or patterns")
      ->take_all();
  command->add_flag(
      "-v", *is_verbose,
      "Show stability, argument types, backend and engine of each probe; in processes also its place and the cost of a firing");
  add_setting_options(*command, *given);
  add_process_options(*command, *given, false);
  command->callback([=, &chosen] { chosen = [=] { return list(as_programs(*given), *is_verbose); }; });
}

}  // namespace dvm::cmd
