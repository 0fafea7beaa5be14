// dvm compile: the DIF of a script, or its AST, without tracing anything. Covered by tests/runtime/cmd.

#include <fmt/core.h>

#include <cstdio>
#include <memory>

#include "cmd/command.h"
#include "cmd/script.h"

namespace dvm::cmd {
namespace {

struct CompileCommand {
  ScriptOptions script;
  bool ast = false, options = false, listing = false;
};

int list_options() {
  for (const dif::OptionInfo& row : dif::kOptions)
    fmt::print("{:<16}{}{}\n", row.name, row.text, row.unsupported.empty() ? "" : fmt::format(" (refused: {})", row.unsupported));
  return 0;
}

int print_asts(const std::vector<compiler::Source>& sources) {
  bool failed = false;
  for (const compiler::Source& source : sources) {
    std::vector<compiler::Diagnostic> diagnostics;
    fmt::print("{}", compiler::print_ast(source, diagnostics));
    for (const compiler::Diagnostic& diagnostic : diagnostics)
      fmt::print(stderr, "{}", compiler::render(diagnostic, source, true));
    failed |= !diagnostics.empty();
  }
  return failed ? 1 : 0;
}

int compile(const CompileCommand& given) {
  if (given.options) return list_options();
  Result<std::vector<compiler::Source>> sources = read_sources(given.script);
  if (!sources) return fail("{}", sources.error().message);
  if (given.ast) return print_asts(*sources);
  Result<dif::Options> options = run_time_options(given.script);
  if (!options) return fail("{}", options.error().message);
  pid_t target = given.script.pids.empty() ? 0 : given.script.pids[0];
  auto programs = compile_sources(*sources, given.script, nullptr, target, *options);
  for (const compiler::CompiledSource& program : programs) fmt::print("{}", compiler::print_dif(program.program));
  return programs.empty() ? 1 : 0;
}

}  // namespace

void add_compile(CLI::App& app, Action& chosen) {
  auto given = std::make_shared<CompileCommand>();
  CLI::App* command = app.add_subcommand("compile", "Print the DIF of a script");
  add_script_options(*command, given->script, "[SCRIPT] [ARGUMENTS for $1, $2, ...]");
  command->add_option("-p", given->script.pids, "Value of $target")->type_name("PID")->allow_extra_args(false);
  command->add_flag("-S", given->listing, "List the DIF (this is the standard)");
  command->add_flag("--ast", given->ast, "Print the syntax tree instead");
  command->add_flag("--options", given->options, "List the run-time options of -x");
  command->callback([given, &chosen] { chosen = [given] { return compile(*given); }; });
}

}  // namespace dvm::cmd
