// dvm list: the probes that descriptions match, as dtrace -l prints them. Covered by tests/runtime/scenarios/test_list.py.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cmd/command.h"
#include "cmd/listing.h"
#include "cmd/tracing.h"
#include "dvm/dif/probe_desc.h"
#include "runtime/backend/local/live.h"
#include "runtime/provider/providers.h"

namespace dvm::cmd {
namespace {

Result<dif::ProbeDesc> read_description(const std::string& text, const std::map<std::string, std::string>& macros) {
  std::string unknown;
  const auto expanded = dif::expand_macros(text, [&](std::string_view name, size_t) -> std::optional<std::string> {
    const auto macro = macros.find(std::string(name));
    if (macro != macros.end()) return macro->second;
    unknown = name;
    return {};
  });
  if (!expanded) return Error{fmt::format("macro variable ${} is not defined", unknown)};
  const auto description = dif::parse_probe_desc(*expanded);
  if (!description) return Error{"Overspecified probe description"};
  return *description;
}

int print_matches(runtime::Handle& handle, const std::string& text, const std::map<std::string, std::string>& macros,
                  bool with_sites) {
  const Result<dif::ProbeDesc> description = read_description(text, macros);
  if (!description) return fail("failed to match {}: {}", text, description.error().message);
  runtime::Discovery found = handle.discover(*description);
  std::vector<const runtime::Probe*> probes = handle.catalog().match(*description);
  if (probes.empty() && !found.reason.empty()) return fail("{}: {}", text, found.reason);
  if (probes.empty()) return fail("failed to match {}: No probe matches description", text);
  if (with_sites)
    print_probes_with_sites(handle, probes);
  else
    for (const runtime::Probe* probe : probes) print_probe(*probe);
  return 0;
}

int list(const ScriptOptions& given, bool with_sites) {
  Result<Targets> targets = Targets::open(given, {});
  if (!targets) return fail("{}", targets.error().message);
  runtime::Handle handle({});
  for (auto& provider : runtime::make_providers()) handle.add_provider(std::move(provider));
  for (auto& [instrument, aside] : runtime::make_live_instruments({})) handle.add_instrument(std::move(instrument), aside);
  std::vector<std::string> descriptions = given.operands;
  for (const auto& program : given.programs) descriptions.push_back(program.second);
  if (descriptions.empty()) descriptions.emplace_back(":::");
  print_probe_heading();
  const auto macros = macro_values(targets->first());
  int status = 0;
  for (const std::string& text : descriptions) status = std::max(status, print_matches(handle, text, macros, with_sites));
  return status;
}

}  // namespace

void add_list(CLI::App& app, Action& chosen) {
  auto given = std::make_shared<ScriptOptions>();
  auto with_sites = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("list", "List the probes that match descriptions");
  command->footer(
      "Examples:\n"
      "  dvm list 'pid$target:libc:str*:entry' -p 1234\n"
      "  dvm list -v 'syscall::open*:'");
  command->add_option("-n", given->operands, "List the probes that match this description")
      ->type_name("DESCRIPTION")
      ->allow_extra_args(false)
      ->take_all();
  command->add_option("DESCRIPTION", given->operands, "provider:module:function:name; fields may be empty or patterns")
      ->take_all();
  command->add_flag("-v", *with_sites,
                    "Show the backend and engine of each probe; of a process, its place and the cost of a firing");
  add_process_options(*command, *given);
  command->callback([=, &chosen] { chosen = [=] { return list(*given, *with_sites); }; });
}

}  // namespace dvm::cmd
