#pragma once
// Errors of the command line, in plain words.

#include <string>
#include <vector>

namespace CLI {
class App;
class Error;
}  // namespace CLI

namespace dvm::cmd {

// What is wrong with an option or operand of `app`, for standard error. `typed` are the words of the command line.
std::string option_problem(const CLI::App* app, const CLI::Error& error, const std::vector<std::string>& typed);

}  // namespace dvm::cmd
