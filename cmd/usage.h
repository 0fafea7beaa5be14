#pragma once
// Help for a command that is missing or misspelt; CLI11 only says that one is required.

#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace dvm::cmd {

// Turns "help run" into "run --help".
std::vector<std::string> spell_out_help(std::vector<std::string> words);

// The error if no command of `app` and no option of its own comes first, with hints; else empty.
std::string command_problem(const CLI::App& app, std::span<const std::string> words);

}  // namespace dvm::cmd
