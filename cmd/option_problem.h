#pragma once
// Errors of the command line, in plain words.

#include <string>

namespace CLI {
class App;
class Error;
}  // namespace CLI

namespace dvm::cmd {

// What is wrong with an option or operand of `app`, for standard error.
std::string option_problem(const CLI::App* app, const CLI::Error& error);

}  // namespace dvm::cmd
