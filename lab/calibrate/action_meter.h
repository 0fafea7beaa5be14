#pragma once
// Prices of speculations, of exit(), which there is once in a run, of chill(), and of what the consumer does for system() and its
// like. Nothing outside of dvm is changed: files are its own, and the command is ":".

#include <string>
#include <vector>

#include "lab/calibrate/script_meter.h"

namespace dvm::runtime {

// action/discard, subroutine/speculation and so on.
std::vector<std::string> action_rows();

// Sets the rows that begin with `only`; the profile has those of DIF and of scripts.
Status measure_actions(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile,
                       const std::string& only = {});

}  // namespace dvm::runtime
