#pragma once
// How --help looks, and help for a command that is missing or misspelt.

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
class FormatterBase;
}  // namespace CLI

namespace dvm::cmd {

// Formats --help. Options are shown as `-x NAME`, without what CLI11 adds: ranges, defaults of flags, other options that are
// needed.
std::shared_ptr<CLI::FormatterBase> help_formatter();

// The heading in --help of options that do something else than tracing.
inline constexpr const char* kNotTracing = "Instead of tracing";

// While it exists, options are added under this heading of --help.
class HelpGroup {
 public:
  HelpGroup(CLI::App& command, const char* heading);
  ~HelpGroup();
  HelpGroup(const HelpGroup&) = delete;
  HelpGroup& operator=(const HelpGroup&) = delete;

 private:
  CLI::App& command_;
  const std::string before_;
};

// Turns "help run" into "run --help".
std::vector<std::string> spell_out_help(std::vector<std::string> words);

// "dvm cost" of the command cost.
std::string path_of(const CLI::App& app);

// Subcommands of `app`: all, and the one of that name or null.
std::vector<const CLI::App*> commands_of(const CLI::App& app);
const CLI::App* find_command(const CLI::App& app, const std::string& name);

// The error, with hints, if `words` do not begin with a command or an option of `app`; empty if they do.
std::string command_problem(const CLI::App& app, std::span<const std::string> words);

// Refuses files and addresses that are empty, as an unset variable of a shell script makes them, and values of flags: in `app`
// and its subcommands.
void refuse_odd_values(CLI::App& app);

}  // namespace dvm::cmd
