#pragma once
// Compiling a script that is not to be traced now: its types come from the process of -p, or from the program of -c, which is not
// started.

#include <map>
#include <string>
#include <vector>

#include "cmd/script.h"
#include "runtime/cost/predict.h"

namespace dvm::cmd {

using Programs = std::vector<compiler::CompiledSource>;

// An empty result: the script has errors, and they have been shown. Fails if what -p or -c names does not exist. keep_target: the
// programs are for later, so $target stays in their descriptions. It also stays if the traced program does not run.
Result<Programs> compile_untraced(const std::vector<compiler::Source>& sources, const ScriptOptions& script, bool keep_target,
                                  dif::Options& options);

// Finds the sources of the firings of the programs' probes in processes, and how an agent runs their clauses if the options ask
// for one. Probes are looked up in the process of -p, in the file of the program of -c, or in a process that a description names.
// Those that are not found there have no source.
Status find_sources(const Programs& programs, const ScriptOptions& script, const dif::Options& options, bool by_agent,
                    runtime::PredictOptions& how);

}  // namespace dvm::cmd
