#pragma once
// Runs a program to its end.

#include <span>
#include <string>
#include <utility>

#include "dvm/common/result.h"

namespace dvm {

// A file of this process, and the number that the program has it by.
using HandedFile = std::pair<int, int>;

// Its exit status. words: argv; a program without a slash is looked up in PATH. An error: it could not be started ("failed to
// run PROGRAM: REASON"), or a signal ended it.
Result<int> run_program(const std::string& program, std::span<const std::string> words, std::span<const HandedFile> files);

}  // namespace dvm
