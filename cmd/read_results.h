#pragma once
// Reading what runs printed with --json, for the commands that show it.

#include <string>
#include <vector>

#include "dvm/common/result.h"
#include "view/results.h"

namespace dvm::cmd {

// Adds each file, or standard input for "-". Says on standard error which runs have no end.
Status read_results(const std::vector<std::string>& files, view::Results& results);

}  // namespace dvm::cmd
