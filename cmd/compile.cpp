// dvm compile: a script checked, listed or written as a file, without tracing anything. Covered by
// tests/runtime/scenarios/test_program_file.py and tests/unit/vm/text_test.cpp.

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cmd/command.h"
#include "cmd/listing.h"
#include "cmd/tracing.h"
#include "cmd/untraced.h"
#include "common/output_file.h"
#include "dvm/dif/program_file.h"
#include "dvm/dif/text.h"

namespace dvm::cmd {
namespace {

struct CompileCommand {
  TracingOptions tracing;
  bool ast = false, options = false, listing = false;
  std::string file;  // --dif
};

std::string size_text(int64_t bytes) {
  constexpr std::array kUnits = {"", "k", "m", "g"};
  size_t unit = 0;
  for (; bytes != 0 && bytes % 1024 == 0 && unit + 1 < kUnits.size(); unit++) bytes /= 1024;
  return fmt::format("{}{}", bytes, kUnits[unit]);
}

// A time as such if it is one in milliseconds, otherwise as the frequency from which it was computed.
std::string period_text(int64_t ns) {
  if (ns % 1'000'000'000 == 0) return fmt::format("{}s", ns / 1'000'000'000);
  return ns % 1'000'000 == 0 ? fmt::format("{}ms", ns / 1'000'000) : fmt::format("{}hz", (1'000'000'000 + ns / 2) / ns);
}

// Empty: the option is unset, or off.
std::string default_text(const dif::OptionInfo& row) {
  using Kind = dif::OptionKind;
  if (row.standard < 0) return "";
  if (row.kind == Kind::size) return size_text(row.standard);
  if (row.kind == Kind::rate) return period_text(row.standard);
  if (row.kind == Kind::number) return std::to_string(row.standard);
  if (row.kind == Kind::flag) return row.standard != 0 ? "on" : "";
  const std::vector<std::string> words = dif::option_words(row);
  return static_cast<size_t>(row.standard) < words.size() ? words[static_cast<size_t>(row.standard)] : "";
}

enum class Support : uint8_t { full, ignored, refused };

Support support_of(const dif::OptionInfo& row) {
  if (!row.unsupported.empty()) return Support::refused;
  return row.text.starts_with("no effect") ? Support::ignored : Support::full;
}

void list_options(Support support) {
  for (const dif::OptionInfo& row : dif::kOptions) {
    if (support_of(row) != support) continue;
    const std::string value = support == Support::full ? default_text(row) : "";
    fmt::print("{:<16}{}{}{}\n", row.name, row.text, value.empty() ? "" : fmt::format(" (default {})", value),
               row.unsupported.empty() ? "" : fmt::format(" (refused: {})", row.unsupported));
  }
}

int list_options() {
  list_options(Support::full);
  fmt::print("\nAccepted for compatibility with dtrace:\n");
  list_options(Support::ignored);
  fmt::print("\nRefused:\n");
  list_options(Support::refused);
  return 0;
}

int print_asts(const std::vector<compiler::Source>& sources) {
  bool failed = false;
  for (const compiler::Source& source : sources) {
    std::vector<compiler::Diagnostic> diagnostics;
    fmt::print("{}", compiler::print_ast(source, diagnostics));
    for (const compiler::Diagnostic& diagnostic : diagnostics)
      fmt::print(stderr, "{}", printable(compiler::render(diagnostic, source, true), kLayout));
    failed |= !diagnostics.empty();
  }
  return failed ? 1 : 0;
}

// All objects in the order of the clauses, numbered from 1.
dif::ProgramFile program_file(const std::vector<compiler::Source>& sources, Programs programs, const ScriptOptions& given) {
  dif::ProgramFile file;
  for (size_t i = 0; i < programs.size(); i++) {
    for (const auto& [name, value] : programs[i].options) file.settings.push_back(value.empty() ? name : name + "=" + value);
    file.programs.push_back({sources[i].name, sources[i].is_description, std::move(programs[i].program)});
  }
  for (std::string& setting : command_line_settings(given)) file.settings.push_back(std::move(setting));
  return file;
}

int write_program(const std::string& path, dif::ProgramFile file) {
  if (Status written = write_file(path, dif::to_bytes(std::move(file))); !written) return fail("{}", written.error().message);
  return 0;
}

int compile(const CompileCommand& given) {
  if (given.options) return list_options();
  const ScriptOptions& script = given.tracing.script;
  Result<dif::Options> options = run_time_options(script);
  if (!options) return fail("{}", options.error().message);
  Result<std::vector<compiler::Source>> sources = read_sources(script, *options);
  if (!sources) return fail("{}", sources.error().message);
  if (given.ast) return print_asts(*sources);
  Result<Programs> compiled = compile_untraced(*sources, script, !given.file.empty(), *options);
  if (!compiled) return fail("{}", compiled.error().message);
  Programs programs = std::move(*compiled);
  if (programs.empty()) return 1;
  if (!script.json)
    for (const compiler::CompiledSource& program : programs) fmt::print("{}", program.tree);
  if (!script.json && (given.listing || (given.file.empty() && !script.print_tree)))
    for (const compiler::CompiledSource& program : programs) print_dif(program.program, *options, stdout);
  return given.file.empty() ? 0 : write_program(given.file, program_file(*sources, std::move(programs), script));
}

}  // namespace

void add_compile(CLI::App& app, CommandAction& chosen) {
  auto given = std::make_shared<CompileCommand>();
  CLI::App* command =
      add_command(app, "compile", "Check a script; print its DIF or write it to a file",
                  {"dvm compile script.d", "dvm compile -n 'BEGIN { trace(1 + 2); }'", "dvm compile --dif script.dif script.d"});
  add_process_options(*command, given->tracing.script, false);
  add_script_options(*command, given->tracing.script, "[SCRIPT [ARGUMENT...]]");
  add_tracing_options(*command, given->tracing, true);
  command->add_flag("-S", given->listing, "List the DIF, as dtrace -S does (default without --dif)");
  command->add_option("--dif", given->file, "Write the compiled script to this file, for dvm exec")->type_name("FILE");
  command->add_flag("--json", given->tracing.script.json, "Print only the errors of the script, as JSON");
  command->add_flag("--emit-ast", given->tracing.script.print_tree,
                    "Print the checked syntax tree, with types, instead of the DIF");
  command->add_flag("--ast", given->ast, "Print the syntax tree as parsed instead of the DIF");
  command->add_flag("--options", given->options, "List the run-time options that -x sets, and exit");
  command->callback([given, &chosen] { chosen = [given] { return compile(*given); }; });
}

}  // namespace dvm::cmd
