#pragma once
// Programs that are enabled in a live process to count or measure. Their handle prints nothing.

#include <memory>
#include <vector>

#include "cmd/script.h"
#include "dvm/vm/profile.h"
#include "lab/validate/traced_job.h"

namespace dvm::cmd {

// Null: the script has errors, and they have been shown.
Result<std::unique_ptr<lab::TracedProgram>> open_live_script(const std::vector<compiler::Source>& sources,
                                                             const ScriptOptions& script, const dif::Options& options,
                                                             vm::CostPolicy cost);

// The prices that experiments are held against, and the program that they trace, which comes with dvm.
struct ExperimentBasis {
  vm::Profile profile;
  std::string workload;
};
// From then on times are as the profile's, and a workload that has ended is an error of its experiment.
Result<ExperimentBasis> prepare_experiments(const std::string& profile);

// The program of an experiment, for a process: a lab::OpenTraced.
Result<std::unique_ptr<lab::TracedProgram>> open_traced(std::string_view text, std::string_view settings, pid_t pid);

}  // namespace dvm::cmd
