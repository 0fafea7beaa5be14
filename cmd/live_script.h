#pragma once
// Programs for a live process, enabled by a handle that prints nowhere: to count, to measure, not to show.

#include <memory>
#include <vector>

#include "cmd/script.h"
#include "lab/validate/traced_job.h"

namespace dvm::cmd {

// Null: the script has errors, and they have been shown.
Result<std::unique_ptr<lab::TracedProgram>> open_live_script(const std::vector<compiler::Source>& sources,
                                                             const ScriptOptions& script, const dif::Options& options,
                                                             vm::CostPolicy cost);

// The program that experiments trace; it comes with dvm.
Result<std::string> find_workload();

// The program of an experiment, for a process: a lab::OpenTraced.
Result<std::unique_ptr<lab::TracedProgram>> open_traced(const std::string& text, const std::vector<std::string>& settings,
                                                        pid_t pid);

}  // namespace dvm::cmd
