#pragma once
// Prices of the actions that take more than two scripts on a hundred thousand firings: speculations, and exit(), which there is
// once in a run.

#include <string>
#include <vector>

#include "runtime/cost/calibrate/script_meter.h"

namespace dvm::runtime {

// action/discard, subroutine/speculation and so on.
std::vector<std::string> action_rows();

// Sets the rows that begin with `only`; the profile has those of DIF and of scripts.
Status measure_actions(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile,
                       const std::string& only = {});

}  // namespace dvm::runtime
