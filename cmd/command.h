#pragma once
// The program `dvm`. Each subcommand has a file, which adds it to the argument parser. Parsing a command line chooses an action,
// which main() then runs. Exit status, as of dtrace: 0, the script's exit(n), 1 for any error, 2 for bad usage.

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "common/printable.h"
#include "common/program_name.h"

namespace CLI {
class App;  // CLI11 is included where options are added
}

namespace dvm::cmd {

using CommandAction = std::function<int()>;

// Adds a subcommand. Its help ends with the notes, if there are any, and the examples.
CLI::App* add_command(CLI::App& to, const char* name, const char* text, std::initializer_list<const char*> lines,
                      const char* notes = nullptr);
// The lines as the examples of a help text.
std::string examples(std::initializer_list<const char*> lines);

void add_run(CLI::App& app, CommandAction& chosen);
void add_record(CLI::App& app, CommandAction& chosen);
void add_replay(CLI::App& app, CommandAction& chosen);
void add_compile(CLI::App& app, CommandAction& chosen);
void add_exec(CLI::App& app, CommandAction& chosen);
void add_cost(CLI::App& app, CommandAction& chosen);
void add_list(CLI::App& app, CommandAction& chosen);
void add_header(CLI::App& app, CommandAction& chosen);
void add_simulate(CLI::App& app, CommandAction& chosen);
void add_detach(CLI::App& app, CommandAction& chosen);
void add_doctor(CLI::App& app, CommandAction& chosen);
void add_tool(CLI::App& app, CommandAction& chosen);
void add_merge(CLI::App& app, CommandAction& chosen);
void add_flame(CLI::App& app, CommandAction& chosen);
void add_page(CLI::App& app, CommandAction& chosen);
void add_lsp(CLI::App& app, CommandAction& chosen);

// Prints "dvm: MESSAGE" (program_name.h) on standard error, with control characters escaped. Not by fmt::print(), which throws if
// the reader has gone.
template <class... Args>
void tell(fmt::format_string<Args...> text, Args&&... args) {
  const std::string message = printable(fmt::format(text, std::forward<Args>(args)...), kLayout);
  std::fputs(fmt::format("{}: {}\n", g_program_name, message).c_str(), stderr);
}

// The same; returns the exit status for it.
template <class... Args>
int fail(fmt::format_string<Args...> text, Args&&... args) {
  tell("{}", fmt::format(text, std::forward<Args>(args)...));
  return 1;
}

}  // namespace dvm::cmd
