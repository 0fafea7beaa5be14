#pragma once
// Runs a program to its end.

#include <span>
#include <string>
#include <utility>

#include "dvm/common/result.h"

namespace dvm {

// A file descriptor of this process, and its number in the program.
using HandedFile = std::pair<int, int>;

// Returns the exit status. words: argv. A program without a slash is looked up in PATH. An error if it cannot be started ("failed
// to run PROGRAM: REASON"), or if a signal ended it.
Result<int> run_program(const std::string& program, std::span<const std::string> words, std::span<const HandedFile> files);

}  // namespace dvm
