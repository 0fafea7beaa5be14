// Covered by tests/runtime/scenarios/test_modes.py.

#include "cmd/modes.h"

#include <CLI/CLI.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "cmd/command.h"
#include "cmd/header.h"
#include "cmd/script.h"
#include "cmd/tracing.h"
#include "cmd/usage.h"
#include "dvm/dif/option.h"
#include "dvm/dif/stability.h"

namespace dvm::cmd {
namespace {

int bad_usage(const std::string& problem) {
  tell("{}", problem);
  return kBadUsage;
}

int print_version() {
  const dif::Options options;
  fmt::print("dvm: D {}\n", dif::print_version(static_cast<uint32_t>(options[dif::Option::version])));
  return 0;
}

}  // namespace

void add_modes(CLI::App& command, Modes& modes) {
  const HelpGroup group(command, kNotTracing);
  command.set_help_flag("--help", "Print this help and exit");
  command.add_flag("-V", modes.version, "Print the version of D and exit");
  command.add_flag("-h", modes.header, "Write a C header for the probes that the script declares, like dvm header");
  command.add_flag("-G", modes.object, "Write the object file that a program with probes is linked with, as dtrace -G does");
  command.add_flag("-A,-a", modes.anonymous)->group("");
  for (auto& [flag, rest] : {std::pair("-6", &modes.behind_6), {"-3", &modes.behind_3}})
    command.add_option(flag, *rest)->group("")->type_name(flag + 1)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

std::optional<int> run_mode(const Modes& modes, const TracingOptions& given) {
  for (const auto& [digit, rest, whole] : {std::tuple('6', modes.behind_6, "4"), {'3', modes.behind_3, "2"}})
    if (!rest.empty() && rest != whole) return bad_usage(fmt::format("illegal option -- {}{}", digit, rest));
  if (!modes.behind_3.empty()) return fail("-32 is not possible: D programs are 64-bit here");
  if (modes.anonymous) return fail("-A and -a are not possible: Linux enables no probes while it boots");
  const std::vector<std::string>& operands = given.script.operands;
  if (given.script.programs.empty() && !operands.empty() && operands[0].size() > 1 && operands[0][0] == '-')
    return bad_usage(fmt::format("illegal option -- {}", operands[0].substr(1)));
  if (modes.version + modes.header + modes.object + given.list_probes > 1)
    return bad_usage("only one of the [-GhlV] options can be specified at a time");
  if (modes.version) return print_version();
  if (given.compile_only && given.script.programs.empty() && operands.empty()) return 0;
  if (!modes.header && !modes.object) return std::nullopt;
  if (given.script.programs.empty())
    return bad_usage(fmt::format("-{} requires one or more scripts or enabling options{}", modes.header ? 'h' : 'G',
                                 modes.header ? "\n    hint: --help lists the options" : ""));
  ScriptOptions script = given.script;
  if (modes.header) return write_probe_header(script, given.output, "-h");
  const std::vector<std::string> objects = std::exchange(script.operands, {});
  return write_probe_object(script, given.output, objects);
}

}  // namespace dvm::cmd
