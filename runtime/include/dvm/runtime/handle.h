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

// Names for the columns of what a printf() with as many arguments prints, or a printa() of this aggregation: keys, then values.
struct NamedRow {
  std::string aggregation;  // "@calls"; empty: of printf()
  std::vector<std::string> columns;
};

struct HandleConfig {
  dif::Options options;
  std::FILE* out = stdout;             // results
  std::FILE* err = stderr;             // notices, drops, errors: each begins with "dvm: "
  bool as_json = false;                // results as JSON, faults too: docs/json.md
  std::vector<NamedRow> named_rows{};  // of JSON
  // The lines of JSON for the aggregations of the end go here too; null: nowhere.
  std::FILE* aggregations_copy = nullptr;
  bool copies_stacks_only = false;    // those with a stack as a key are copied and not printed
  bool shows_source = false;          // JSON has files, lines and inlined functions of stacks, from debug information
  std::FILE* trace_events = nullptr;  // records go here too, as trace events; null: nowhere
  // Takes copies of the records; null: none does.
  std::shared_ptr<RecordReader> record_reader;
  // Takes the aggregations as metrics, at aggrate and at the end; null: none does.
  std::shared_ptr<Exporter> exporter;
  // Called when tracing ends. What it returns is destroyed before the first output; it may show that the rows are being sorted
  // and their addresses resolved. Null: nothing does.
  std::function<std::shared_ptr<void>()> show_end;
  vm::CostPolicy cost = vm::CostPolicy::none;
  bool is_timed = true;                             // time a sample of what is accounted; false: only count
  bool is_replay = false;                           // reads nothing from processes, which may be gone
  std::vector<RecordedProcess> recorded_processes;  // of a replay: their ids and command lines
  std::string recorded_kernel;                      // of a replay, its release and version
  int32_t target = 0;                               // $target; 0: none; printf("%A") looks addresses up in it
  LateReads* late_reads = nullptr;                  // takes late reads for a recording; null: none
  std::shared_ptr<UserSymbols> symbols;             // shared with a recording; null: its own
  bool translates_at_once = false;                  // engine=auto: clauses that have fired, whatever they cost; for tests
};

// The backend and engine of a clause on some of its probes.
struct Placement {
  unsigned clause = 0;           // its number, from 0
  const Probe* probe = nullptr;  // the first of them
  size_t probes = 1;
  std::string backend, by;                                  // "local" by "uprobe"; empty: nothing makes them fire
  std::string engine;                                       // what executes the DIF
  uint64_t interpreted = 0;                                 // firings before engine=auto changed to that engine
  std::string engine_problem;                               // why the requested engine does not execute it
  std::string reason;                                       // why backend is empty
  std::vector<std::pair<std::string, std::string>> others;  // other backends, and why they do not
};

// Values that a clause keeps, in its records or as keys of its aggregations.
struct KeptValues {
  uint64_t integers = 0, strings = 0, bytes = 0;  // structures count as strings; bytes: of both
};

// The account of one clause on one probe (an ECB). Ticks are TSC ticks, measured on a sample of the firings.
struct EcbAccount {
  uint32_t epid = 0;
  uint32_t probe_id = 0;
  const Probe* probe = nullptr;  // under the name that is printed
  dif::SourcePosition clause;
  std::string engine;        // that runs it now
  uint64_t interpreted = 0;  // firings before option engine=auto changed to that engine
  uint64_t firings = 0;
  uint64_t predicate_hits = 0;
  uint64_t faults = 0;
  vm::Counts counts;
  // One entry per DIFO: the predicate, if there is one, then the arguments of each action.
  std::vector<vm::InstructionCounts> instructions;
  std::vector<std::pair<std::string, vm::Tally>> actions;  // by name: trace, printf, count, ...
  KeptValues recorded, keys;
  uint64_t keyed = 0;  // aggregating actions with keys
  std::array<uint64_t, vm::kPlaces.size()>
      found{};           // strings that were kept, by where they were found (vm::StringPlace); no literals
  uint64_t records = 0;  // that the consumer has to print
};

struct Account {
  double ticks_per_second = 0;
  uint64_t events = 0;
  // CPU time of reading a recording's file and of writing the output, which is as long as where they lie has it.
  uint64_t reading_ns = 0, writing_ns = 0;
  uint64_t late_reads = 0;    // reads of the process's memory, which was not captured at the firing
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
  UserSymbols& symbols();  // what processes have mapped
  void add_provider(std::unique_ptr<Provider> provider);
  bool has_provider(std::string_view name) const;
  // aside: why it is not asked before the instruments that were added earlier, for probes that those take as well.
  void add_instrument(std::unique_ptr<Instrument> instrument, std::string aside = "");
  // A backend that is asked after those that were added earlier, and before `local`. Before enable().
  using MakeBackend = std::function<std::unique_ptr<Backend>(HandleConfig&, const Enabling&)>;
  void add_backend(const MakeBackend& make);

  // Asks every provider about the description, then the catalog.
  Discovery discover(const dif::ProbeDesc& description);

  // Verifies the program and makes its ECBs. The error names the clause and the instruction.
  Status enable(const dif::Program& program);
  // The probes with an ECB and what each needs captured.
  std::vector<EnabledProbe> enabled() const;

  // placements(): where each clause runs, in order, after go(). placement(): where a clause would run on this probe.
  // preview(): makes placement() exact for probes that are not enabled.
  std::vector<Placement> placements() const;
  Placement placement(const Probe& probe) const;
  void preview(std::span<const EnabledProbe> probes);

  // Turns instruments on and fires BEGIN. The error says what is missing and what to do.
  Status go(std::vector<Refused>& refused);
  // Waits for firings at most until the next rate, handles them, prints what is due. False: exit() ran, every instrument is
  // finished or an error (see status()) ended tracing.
  bool work();
  // The parts of work(): handles what has fired; waits for more, and prints what is due.
  bool look();
  bool wait();
  // True if an instrument is the tracer of the process. work() then lets the process run, and dvm must stay its tracer.
  bool holds(int32_t pid) const;
  // Makes the next work() return false: Ctrl-C. Async-signal-safe.
  void interrupt() noexcept;
  // The same once nothing is left of what these processes have forked, if that is followed. From any thread.
  void targets_gone() noexcept;
  // Takes the probes off, drains, fires END, prints the rest and the drops. Harmless when called twice.
  Status stop();

  Status status() const;    // the error that ended tracing, if any
  int exit_status() const;  // argument of exit(), otherwise 0
  // with_clauses: what each clause did, too, which has to be added up.
  Account account(bool with_clauses = true);
  // What has been read so far of the aggregation with this id in its program; all of it after stop().
  std::vector<AggregatedKey> aggregated(uint32_t id);
  uint64_t drops() const;             // of every kind, on all CPUs, together
  uint64_t instrument_drops() const;  // firings that the instruments lost

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dvm::runtime
