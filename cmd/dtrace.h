#pragma once
// The program under the name dtrace.

#include <string>

namespace dvm::cmd {

// The letters of the options that it takes.
std::string dtrace_letters();

// Whether argv[0] is a path to "dtrace".
bool is_called_dtrace(const char* path);

// Runs dtrace's command line; returns the exit status: 0, the script's exit(n), 1 for an error, 2 for bad usage.
int run_as_dtrace(int argc, char** argv);

}  // namespace dvm::cmd
