#pragma once
// The consumer's interface: open, enable, go, work until done, stop. One thread does everything: it polls the instruments, runs
// the ECBs of every firing (probe context) and prints at switchrate and aggrate (consumer context), so there are no locks.
//
//   Handle handle(config);
//   handle.add_provider(...); handle.add_instrument(...);
//   handle.discover(description)                    -> probes in the catalog (the compiler's ProbeCatalog asks this)
//   handle.enable(program)                          -> ECBs on each matching probe
//   handle.go()                                     -> instruments on, BEGIN fires
//   while (handle.work()) ...                       -> firings, output at the rates
//   handle.stop()                                   -> instruments off, rest drained, END fires, aggregations printed

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/dif/option.h"
#include "dvm/dif/program.h"
#include "dvm/runtime/provider.h"
#include "dvm/runtime/recorded_process.h"
#include "dvm/vm/cost.h"
#include "dvm/vm/host.h"
#include "dvm/vm/operands.h"

namespace dvm::runtime {

class Backend;
class Catalog;
class Enabling;
class Exporter;
class Instrument;
class LateReads;
class RecordReader;
class UserSymbols;
struct EnabledProbe;
struct Probe;
struct Refused;

// Names for the columns of a printf() with as many arguments, or of a printa() of this aggregation: keys, then values.
struct NamedRow {
  std::string aggregation;  // "@calls"; empty: of printf()
  std::vector<std::string> columns;
};

struct HandleConfig {
  dif::Options options;
  std::FILE* out = stdout;             // results
  std::FILE* err = stderr;             // notices, drops, errors: each begins with "dvm: "
  bool as_json = false;                // results and faults as JSON: docs/json.md
  std::vector<NamedRow> named_rows{};  // of JSON
  // Receives the JSON lines of aggregations that are printed at the end. May be null.
  std::FILE* aggregations_copy = nullptr;
  // Aggregations with a stack as a key go only to aggregations_copy, and all others are only printed.
  bool copies_stacks_only = false;
  // JSON has files, lines and inlined functions of stacks, from debug information.
  bool shows_source = false;
  // Receives records as trace events. May be null.
  std::FILE* trace_events = nullptr;
  // Receives copies of the records. May be null.
  std::shared_ptr<RecordReader> record_reader;
  // Receives the aggregations as metrics, at aggrate and at the end. May be null.
  std::shared_ptr<Exporter> exporter;
  // Called when tracing ends, once before probes are removed, and again before rows are sorted and addresses are resolved, for
  // example to show a notice with the text. The returned object is destroyed when that is done, and before the first output. May
  // be null.
  std::function<std::shared_ptr<void>(const char* what)> show_end;
  vm::CostPolicy cost = vm::CostPolicy::none;
  bool is_timed = true;    // an account has the times of a sample of firings; false: only counts
  bool is_replay = false;  // firings come from a recording, and no process is read
  // Of a replay: the ids and command lines of the processes.
  std::vector<RecordedProcess> recorded_processes;
  std::string recorded_kernel;  // of a replay: release and version of the kernel
  int32_t target = 0;           // $target, in which printf("%A") looks up addresses; 0: none

  LateReads* late_reads = nullptr;       // receives late reads for a recording; may be null
  std::shared_ptr<UserSymbols> symbols;  // shared with a recording; null: the handle makes its own
  bool translates_at_once = false;       // engine=auto translates every clause that has fired; for tests
};

// The backend and engine of a clause on some of its probes.
struct Placement {
  unsigned clause = 0;           // its number, from 0
  const Probe* probe = nullptr;  // the first of these probes
  size_t probes = 1;             // their number

  std::string backend, by;   // "local" by "uprobe"; empty: nothing makes them fire
  std::string engine;        // the engine that executes the DIF
  uint64_t interpreted = 0;  // firings before engine=auto changed to that engine

  std::string engine_problem;  // why the requested engine does not execute it
  std::string reason;          // why `backend` is empty
  // Other backends, and why they do not take the clause.
  std::vector<std::pair<std::string, std::string>> others;
};

// Counts of the values that a clause stores, in its records or as keys of its aggregations.
struct KeptValues {
  uint64_t integers = 0;
  uint64_t strings = 0;  // and structures
  uint64_t bytes = 0;    // of strings and structures
};

// The account of one clause on one probe (an ECB). Ticks are TSC ticks, measured on a sample of the firings.
struct EcbAccount {
  uint32_t epid = 0;
  uint32_t probe_id = 0;
  const Probe* probe = nullptr;  // the probe under its printed name
  dif::SourcePosition clause;
  std::string engine;        // the current one
  uint64_t interpreted = 0;  // firings before option engine=auto changed to that engine
  uint64_t firings = 0;
  uint64_t predicate_hits = 0;
  uint64_t faults = 0;
  vm::Counts counts;
  // One entry per DIFO: the predicate, if there is one, then the arguments of each action.
  std::vector<vm::InstructionCounts> instructions;
  std::vector<std::pair<std::string, vm::Tally>> actions;  // by name: trace, printf, count, ...
  KeptValues recorded, keys;
  uint64_t keyed = 0;                                // aggregating actions with keys
  std::array<uint64_t, vm::kPlaces.size()> found{};  // stored strings by their place (vm::StringPlace), without literals
  uint64_t records = 0;                              // records for the consumer to print
};

struct Account {
  double ticks_per_second = 0;
  uint64_t events = 0;
  // CPU time of reading the file of a recording and of writing the output. It depends on the file systems.
  uint64_t reading_ns = 0, writing_ns = 0;
  uint64_t late_reads = 0;    // reads of memory that was not captured at the firing
  uint64_t live_dynamic = 0;  // existing dynamic variables
  uint64_t locals = 0;        // clause-local variables that the session has
  std::vector<EcbAccount> ecbs;
  std::vector<std::pair<std::string, vm::Tally>> stages;    // deliver, prepare, predicate, actions, snapshot, print, ...
  std::vector<std::pair<std::string, vm::Tally>> consumer;  // its steps (consumer_steps.def)
};

// A key of an aggregation with its state: one word for count() and sum(), the buckets in order for distributions
// (runtime/probe/aggregate.h).
struct AggregatedKey {
  std::string key;  // its bytes; empty: the aggregation has no keys
  std::vector<uint64_t> state;
};

class Handle {
 public:
  explicit Handle(HandleConfig config);
  ~Handle();

  Catalog& catalog();
  dif::Options& options();
  bool is_replay() const;
  const std::string& recorded_kernel() const;
  UserSymbols& symbols();  // the mappings and symbols of processes
  void add_provider(std::unique_ptr<Provider> provider);
  bool has_provider(std::string_view name) const;
  // Adds an instrument, which is asked after those added earlier. aside: why; it is reported for probes that it could take too.
  void add_instrument(std::unique_ptr<Instrument> instrument, std::string aside = "");
  // Adds a backend, which is asked after those added earlier and before `local`. Call before enable().
  using MakeBackend = std::function<std::unique_ptr<Backend>(HandleConfig&, const Enabling&)>;
  void add_backend(const MakeBackend& make);

  // Asks every provider about the description, then the catalog.
  Discovery discover(const dif::ProbeDesc& description);

  // Verifies the program and makes its ECBs. The error names the clause and the instruction.
  Status enable(const dif::Program& program);
  // The probes with an ECB, and the data that each must capture.
  std::vector<EnabledProbe> enabled() const;

  // placements(): where each clause runs, in order; after go(). On a probe: where its clauses run. placement(): where a clause
  // would run on this probe. preview(): makes these exact for probes that are not turned on.
  std::vector<Placement> placements() const;
  std::vector<Placement> placements(const Probe& probe) const;
  Placement placement(const Probe& probe) const;
  void preview(std::span<const EnabledProbe> probes);
  // After stop(): what has changed in how clauses run, besides their placements.
  std::vector<std::string> changes() const;

  // Turns instruments on and fires BEGIN. The error says what is missing and what to do.
  Status go(std::vector<Refused>& refused);
  // Waits for firings, at most until output is due, handles them, and prints. False: exit() ran, every instrument is finished, or
  // an error (see status()) ended tracing.
  bool work();
  // The parts of work(). poll() handles firings; wait() waits for more, and prints what is due.
  bool poll();
  bool wait();
  // True if an instrument is the tracer of the process. work() then lets the process run, and dvm must stay its tracer.
  bool holds(int32_t pid) const;
  // Makes the next work() return false: Ctrl-C. Async-signal-safe.
  void interrupt() noexcept;
  // The same, once all followed processes that these have forked have ended. From any thread.
  void targets_gone() noexcept;
  // Takes the probes off, drains the buffers, fires END, prints the remaining results and the drops. A second call does nothing.
  Status stop();

  Status status() const;    // the error that ended tracing, if any
  int exit_status() const;  // argument of exit(), otherwise 0
  // with_clauses: includes the accounts of clauses, which takes time.
  Account account(bool with_clauses = true);
  // The contents of the aggregation with this id, as far as read; complete after stop().
  std::vector<AggregatedKey> aggregated(uint32_t id);
  uint64_t drops() const;             // of all kinds, on all CPUs
  uint64_t instrument_drops() const;  // firings that the instruments lost

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dvm::runtime
