// Covered by tests/runtime.

#include "cmd/firing_source.h"

#include <fmt/core.h>

#include "cmd/target_catalog.h"
#include "runtime/catalog/catalog.h"
#include "runtime/provider/providers.h"
#include "runtime/symbol/user_symbols.h"

namespace dvm::cmd {

Result<FiringSource> open_live_source(const ScriptOptions& given, const dif::Options& options, int terminal) {
  FiringSource source;
  Result<Targets> targets = Targets::open(given, options, terminal);
  if (!targets) return targets.error();
  source.targets = std::move(*targets);
  source.target = source.targets.first();
  source.providers = runtime::make_providers();
  source.instruments = runtime::make_live_instruments(options);
  return source;
}

void number_probes(runtime::Handle& handle) { (void)handle.discover({}); }

Status add_source(runtime::Handle& handle, FiringSource& source) {
  for (auto& provider : source.providers) handle.add_provider(std::move(provider));
  if (!source.is_replay) number_probes(handle);
  for (auto& [instrument, aside] : source.instruments) handle.add_instrument(std::move(instrument), std::move(aside));
  for (const runtime::Probe& probe : source.probes)
    if (!handle.catalog().add_with_id(probe))
      return Error{fmt::format("probe {} of the recording has the id of another", probe.id)};
  return {};
}

std::vector<ReadyProgram> compile_live(runtime::Handle& handle, const std::vector<compiler::Source>& sources,
                                       const ScriptOptions& script, pid_t target) {
  TargetCatalog types(handle, target, [&handle](int32_t pid) { return handle.symbols().objects(pid); });
  ScriptOptions silent = script;
  silent.verbose = false;
  auto compiled = compile_sources(sources, silent, {&handle, &types, target, false}, handle.options());
  std::vector<ReadyProgram> programs;
  for (size_t i = 0; i < compiled.size(); i++) {
    std::string report = script.verbose ? compiler::stability_report(sources[i], compiled[i]) : "";
    programs.push_back(
        {std::move(compiled[i].program), matched_line(sources[i], compiled[i].matched), std::move(report), sources[i]});
  }
  return programs;
}

ScriptOptions for_listing(ScriptOptions given) {
  if (given.programs.empty() && given.operands.empty()) given.programs.push_back({GivenProgram::Form::name, ":::"});
  given.zero_matches = true, given.verbose = false;  // verbose then describes the probes
  return given;
}

}  // namespace dvm::cmd
