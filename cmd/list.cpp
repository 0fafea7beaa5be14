// dvm list: the probes that descriptions match, as dtrace -l prints them. Covered by tests/runtime/scenarios/test_list.py.

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "cmd/command.h"
#include "cmd/tracing.h"
#include "runtime/provider/providers.h"

namespace dvm::cmd {
namespace {

std::string with_target(std::string field, pid_t target) {
  static constexpr std::string_view kMacro = "$target";
  size_t at = field.find(kMacro);
  if (at != std::string::npos && target != 0) field.replace(at, kMacro.size(), std::to_string(target));
  return field;
}

// Fields that are missing are missing on the left.
dif::ProbeDesc parse_description(std::string_view text, pid_t target) {
  dif::ProbeDesc description;
  for (std::string* field : {&description.name, &description.function, &description.module, &description.provider}) {
    size_t colon = text.rfind(':');
    *field = with_target(std::string(colon == std::string_view::npos ? text : text.substr(colon + 1)), target);
    if (colon == std::string_view::npos) break;
    text = text.substr(0, colon);
  }
  return description;
}

int print_matches(runtime::Handle& handle, const std::string& text, pid_t target) {
  dif::ProbeDesc description = parse_description(text, target);
  runtime::Discovery found = handle.discover(description);
  std::vector<const runtime::Probe*> probes = handle.catalog().match(description);
  if (probes.empty() && !found.reason.empty()) return fail("{}: {}", text, found.reason);
  if (probes.empty()) return fail("failed to match {}: No probe matches description", text);
  for (const runtime::Probe* probe : probes)
    fmt::print("{:>5} {:>10} {:>17} {:>33} {}\n", probe->id, probe->provider, probe->module, probe->function, probe->name);
  return 0;
}

int list(const ScriptOptions& given) {
  Result<Targets> targets = Targets::open(given);
  if (!targets) return fail("{}", targets.error().message);
  runtime::Handle handle({});
  for (auto& provider : runtime::make_providers()) handle.add_provider(std::move(provider));
  std::vector<std::string> descriptions = given.operands;
  for (const auto& program : given.programs) descriptions.push_back(program.second);
  if (descriptions.empty()) descriptions.emplace_back(":::");
  fmt::print("   ID   PROVIDER            MODULE                          FUNCTION NAME\n");
  int status = 0;
  for (const std::string& text : descriptions) status = std::max(status, print_matches(handle, text, targets->first()));
  return status;
}

}  // namespace

void add_list(CLI::App& app, Action& chosen) {
  auto given = std::make_shared<ScriptOptions>();
  CLI::App* command = app.add_subcommand("list", "List the probes that descriptions match");
  command->add_option("-n", given->operands, "Probe description")->type_name("DESCRIPTION")->allow_extra_args(false)->take_all();
  command->add_option("descriptions", given->operands, "[DESCRIPTION...] as provider:module:function:name")->take_all();
  add_process_options(*command, *given);
  command->callback([given, &chosen] { chosen = [given] { return list(*given); }; });
}

}  // namespace dvm::cmd
