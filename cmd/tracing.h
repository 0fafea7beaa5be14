#pragma once
// A tracing run from options to exit status, shared by run, record and replay: they differ in where firings come from.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cmd/exporting.h"
#include "cmd/firing_source.h"
#include "cmd/predict.h"
#include "cmd/script.h"
#include "cmd/stack_view.h"
#include "dvm/common/result.h"
#include "runtime/cost/runs/ledger.h"

namespace dvm::cmd {

struct TracingOptions {
  ScriptOptions script;
  std::string output;         // file that results are appended to; empty: standard output
  bool compile_only = false;  // -e
  bool strict_drops = false;
  std::string account;   // "", "table" or "json"
  std::string ledger;    // the profile to account by, beside the time of the run; "here": the one of this machine
  bool as_json = false;  // --json
  std::vector<runtime::NamedRow> named_rows = {};
  StackViewOptions view;     // --flame, --folded
  std::string trace_events;  // file for trace events; empty: none
  ExportOptions exports;     // --live, --html, --prometheus, --otlp
  bool list_probes = false;  // -l
  bool list_dif = false;     // -S
  bool predict = false;      // --predict
  PredictionOptions prediction;
  std::function<std::string(runtime::Handle&)> complaint;  // asked after tracing: an error of the run, or ""; may be null
  // Asked about probes that were left out: why the run is of no use without them, or ""; may be null.
  std::function<std::string(runtime::Handle&, const std::vector<runtime::Refused>&)> objection = {};
};

// The outcome of a run.
struct TraceOutcome {
  int status = 1;            // exit status
  bool traced = false;       // probes were enabled
  uint64_t drops = 0;        // firings that the instruments lost
  std::string account = {};  // JSON, for --html
};

// Options of run, record and replay but for where firings come from; -o only where it names the output.
void add_tracing_options(CLI::App& command, TracingOptions& options, bool with_output);

// Further options of them and of exec: --json, -l, -S and those that dtrace has.
void add_run_options(CLI::App& command, TracingOptions& options);

// terminal: for the programs that it starts, as of Targets::open().
using OpenSource = std::function<Result<FiringSource>(const dif::Options&, int terminal)>;

// An empty result: there were errors, and they have been shown.
using MakePrograms = std::function<std::vector<ReadyProgram>(runtime::Handle&, pid_t target)>;

// Opens the source, makes the programs, traces until it ends, prints.
TraceOutcome trace(const TracingOptions& given, const dif::Options& options, const OpenSource& open, const MakePrograms& make);

// Reads and compiles the programs, opens the source, traces until it ends, prints. `open` is called after the sources were read,
// so that no process is started for a script that does not exist.
TraceOutcome trace(const TracingOptions& options, const OpenSource& open);

}  // namespace dvm::cmd
