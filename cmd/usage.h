#pragma once
// Commands as they are typed: help for one that is missing or misspelt, which CLI11 only says is required.

#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace dvm::cmd {

// "help run" as "run --help".
std::vector<std::string> spell_out_help(std::vector<std::string> words);

// What is wrong where a command of `app` should stand, with hints; empty if a command stands there, or an option of its own.
std::string command_problem(const CLI::App& app, std::span<const std::string> words);

}  // namespace dvm::cmd
