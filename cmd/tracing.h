#pragma once
// A tracing run from options to exit status, shared by run, record and replay: they differ in where firings come from.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cmd/predict.h"
#include "cmd/script.h"
#include "cmd/targets.h"
#include "common/result.h"
#include "runtime/cost/ledger.h"
#include "runtime/process/target_memory.h"

namespace dvm::cmd {

struct TracingOptions {
  ScriptOptions script;
  std::string output;         // file that results are appended to; empty: standard output
  bool compile_only = false;  // -e
  bool strict_drops = false;
  std::string account;       // "", "table" or "json"
  std::string ledger;        // the profile to account by, beside the time of the run; "here": the one of this machine
  bool as_json = false;      // --json
  bool list_probes = false;  // -l
  bool list_dif = false;     // -S
  bool predict = false;      // --predict
  PredictionOptions prediction;
};

// What became of a run.
struct TraceOutcome {
  int status = 1;       // exit status
  bool traced = false;  // probes were enabled
  uint64_t drops = 0;   // firings that the instruments lost
};

// Options of run, record and replay but for where firings come from; -o only where it names the output.
void add_tracing_options(CLI::App& command, TracingOptions& options, bool with_output);

// Further options of them and of exec: --json, -l, -S and those that dtrace has.
void add_run_options(CLI::App& command, TracingOptions& options);

// Where firings come from.
struct FiringSource {
  std::vector<std::unique_ptr<runtime::Provider>> providers;
  std::vector<std::unique_ptr<runtime::Instrument>> instruments;
  Targets targets;
  pid_t target = 0;  // $target, 0: none
  // Of a recording:
  bool is_replay = false;
  runtime::Replayed replayed;
  std::vector<runtime::Probe> probes;
  std::vector<runtime::RecordedProcess> processes;
  // Of a recording, to be made or read:
  std::shared_ptr<runtime::UserSymbols> symbols;
  runtime::LateReads* late_reads = nullptr;
};

// Processes as the options name them, kernel uprobes and timers.
Result<FiringSource> open_live_source(const ScriptOptions& given, const dif::Options& options);
// Gives the handle the source's providers, instruments and probes.
Status add_source(runtime::Handle& handle, FiringSource& source);
using OpenSource = std::function<Result<FiringSource>(const dif::Options&)>;

// A program for the probes of a handle, and the line that says how many it matched.
struct ReadyProgram {
  dif::Program program;
  std::string notice;
};
// The sources, for the probes of a handle. None: there were errors, and they have been shown.
std::vector<ReadyProgram> compile_live(runtime::Handle& handle, const std::vector<compiler::Source>& sources,
                                       const ScriptOptions& script, pid_t target);
// None: there were errors, and they have been shown.
using MakePrograms = std::function<std::vector<ReadyProgram>(runtime::Handle&, pid_t target)>;

// Opens the source, makes the programs, traces until it ends, prints.
TraceOutcome trace(const TracingOptions& given, const dif::Options& options, const OpenSource& open, const MakePrograms& make);

// Reads and compiles the programs, opens the source, traces until it ends, prints. `open` is called after the sources were read,
// so that no process is started for a script that does not exist.
TraceOutcome trace(const TracingOptions& options, const OpenSource& open);

}  // namespace dvm::cmd
