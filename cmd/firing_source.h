#pragma once
// The sources of a run's firings, and programs for its probes.

#include <memory>
#include <string>
#include <vector>

#include "cmd/script.h"
#include "cmd/targets.h"
#include "dvm/common/result.h"
#include "dvm/runtime/handle.h"
#include "runtime/backend/local/live.h"
#include "runtime/cost/runs/ledger.h"
#include "runtime/process/target_memory.h"

namespace dvm::cmd {

// The source of a run's firings.
struct FiringSource {
  std::vector<std::unique_ptr<runtime::Provider>> providers;
  std::vector<runtime::LiveInstrument> instruments;
  Targets targets;
  pid_t target = 0;  // $target, 0: none
  // For a recording:
  bool is_replay = false;
  runtime::Replayed replayed;
  std::vector<runtime::Probe> probes;
  std::vector<runtime::RecordedProcess> processes;
  std::string kernel;
  // For a recording that is made or read:
  std::shared_ptr<runtime::UserSymbols> symbols;
  runtime::LateReads* late_reads = nullptr;
};

// Processes as the options name them, kernel uprobes and timers.
// terminal: as of Targets::open().
Result<FiringSource> open_live_source(const ScriptOptions& given, const dif::Options& options, int terminal = -1);
// Gives the probes of the kernel and of the providers profile and dvm their numbers, which are the same in every run.
void number_probes(runtime::Handle& handle);
// Gives the handle the source's providers, instruments and probes.
Status add_source(runtime::Handle& handle, FiringSource& source);

// A program for the probes of a handle, the line that says how many it matched, for -v its stability, and what it was compiled
// from, if that was D.
struct ReadyProgram {
  dif::Program program;
  std::string notice;
  std::string report = {};
  compiler::Source source = {};
};
// Compiles the sources for the probes of a handle. An empty result: there were errors, and they have been shown.
std::vector<ReadyProgram> compile_live(runtime::Handle& handle, const std::vector<compiler::Source>& sources,
                                       const ScriptOptions& script, pid_t target);
// Changes options for dvm list and -l: descriptions may match nothing, and without a program all probes are listed.
ScriptOptions for_listing(ScriptOptions given);

}  // namespace dvm::cmd
