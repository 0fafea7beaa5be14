// One tracing run. Covered by tests/runtime.

#include "cmd/tracing.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include "cmd/account.h"
#include "cmd/command.h"
#include "cmd/events_file.h"
#include "cmd/libraries.h"
#include "cmd/listing.h"
#include "cmd/profiles.h"
#include "cmd/usage.h"
#include "cmd/waiting.h"
#include "cmd/write_whole.h"
#include "common/clock.h"
#include "common/short_slice.h"
#include "lab/calibrate/quiet_polls.h"
#include "runtime/cost/runs/agent_ways.h"
#include "runtime/process/process.h"
#include "runtime/session/late_memory.h"
#include "runtime/symbol/user_symbols.h"

namespace dvm::cmd {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

Result<File> open_output(const std::string& path) {
  if (path.empty()) return File(stdout, [](std::FILE*) { return 0; });
  std::FILE* file = std::fopen(path.c_str(), "ae");
  if (file == nullptr) return Error{fmt::format("failed to open output file '{}': {}", path, std::strerror(errno))};
  return File(file, std::fclose);
}

// The handle that Ctrl-C interrupts.
std::atomic<runtime::Handle*> g_interrupted{nullptr};
std::atomic<uint64_t> g_signalled_at{0};  // ns; 0: not yet

// A second signal ends dvm the hard way; the kernel then takes the probes off. One right behind the first is an echo of it:
// timeout(1) signals its program, and then the process group in which the program is.
constexpr uint64_t kEchoNs = 200'000'000;

void on_signal(int signal) {
  const uint64_t ns = read_clock(CLOCK_MONOTONIC);
  uint64_t first = 0;
  if (g_signalled_at.compare_exchange_strong(first, ns)) {
    if (runtime::Handle* handle = g_interrupted.load()) handle->interrupt();
  } else if (ns >= first + kEchoNs) {  // another thread may have taken the first one after this one's clock
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

// A reader that went away, or a file at its RLIMIT_FSIZE, is an error of the write like any other, and ends tracing in order; by
// default the signal would end dvm alone and leave the process of -c behind. A function, since programs that dvm starts would
// inherit SIG_IGN.
void on_failed_write(int) {}

class SignalScope {
 public:
  explicit SignalScope(runtime::Handle& handle) {
    for (int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, on_failed_write);
    g_interrupted = &handle;
    g_signalled_at = 0;
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;  // what is being written is not cut off
    for (int signal : kSignals) sigaction(signal, &action, nullptr);
  }
  ~SignalScope() {
    for (int signal : kSignals) std::signal(signal, SIG_DFL);
    g_interrupted = nullptr;
  }
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
};

std::string describe(const runtime::Probe& probe) {
  return fmt::format("{}:{}:{}:{}", probe.provider, probe.module, probe.function, probe.name);
}

using ReadyPrograms = std::vector<ReadyProgram>;

// One line for each reason: a glob over a large program may have hundreds of probes with the same one. Under -v a line for each
// probe, where they are few.
std::vector<std::string> describe_refused(const std::vector<runtime::Refused>& refused, bool is_verbose) {
  constexpr size_t kFew = 5;
  std::map<std::string, std::vector<const runtime::Probe*>> by_reason;
  for (const runtime::Refused& one : refused) by_reason[one.reason].push_back(one.probe);
  std::vector<std::string> lines;
  for (const auto& [reason, probes] : by_reason) {
    const bool is_one = probes.size() == 1;
    if (is_verbose && probes.size() <= kFew)
      for (const runtime::Probe* probe : probes) lines.push_back(fmt::format("left out, {}: {}", describe(*probe), reason));
    else
      lines.push_back(fmt::format("{} probe{} left out, {}{}: {}", probes.size(), is_one ? "" : "s", describe(*probes.front()),
                                  is_one ? "" : " and others", reason));
  }
  return lines;
}

// Uprobes cannot take returns whose instructions are not all known. An agent can, where it takes the entry, too.
std::vector<std::string> describe_refused(runtime::Handle& handle, const std::vector<runtime::Refused>& refused,
                                          bool is_verbose) {
  std::vector<std::string> lines = describe_refused(refused, is_verbose);
  if (const size_t others = runtime::count_for_agents(refused, handle.options()); others > 0)
    lines.push_back(fmt::format("-x backend=agent may place up to {} of them", others));
  return lines;
}

// True if nothing can fire but BEGIN, END and tick probes, though the script asks for more.
bool is_all_refused(runtime::Handle& handle, const std::vector<runtime::Refused>& refused) {
  if (refused.empty() || handle.options()[dif::Option::zdefs] > 0) return false;
  std::set<const runtime::Probe*> left_out;
  for (const runtime::Refused& one : refused) left_out.insert(one.probe);
  const std::vector<runtime::EnabledProbe> all = handle.enabled();
  return std::all_of(all.begin(), all.end(), [&](const runtime::EnabledProbe& enabled) {
    return runtime::is_fired_by_dvm(*enabled.probe) || left_out.contains(enabled.probe);
  });
}

Status enable(runtime::Handle& handle, const std::vector<ReadyProgram>& programs) {
  for (const ReadyProgram& program : programs) {
    Status enabled = handle.enable(program.program);
    if (!enabled) return enabled;
  }
  return {};
}

void print_matched(const std::vector<ReadyProgram>& programs, const dif::Options& options, std::FILE* out) {
  const bool is_quiet = options[dif::Option::quiet] > 0;
  for (const ReadyProgram& program : programs) {
    if (!is_quiet) tell("{}", program.notice);
    fmt::print(out, "{}", program.report);
    std::fflush(out);  // in their order on a terminal
  }
  if (!is_quiet && options[dif::Option::destructive] > 0) tell("allowing destructive actions");
}

// One line for the probes of a clause with the same placement.
void print_placements(const runtime::Handle& handle) {
  for (const runtime::Placement& one : handle.placements()) {
    const runtime::Probe& probe = *one.probe;
    const std::string more = one.probes > 1 ? fmt::format(" and {} more", one.probes - 1) : "";
    tell("dt_clause_{} {}:{}:{}:{}{}: {}", one.clause, probe.provider, probe.module, probe.function, probe.name, more,
         placement_text(one));
  }
}

// Each once, however many clauses the probe has.
void print_remarks(const runtime::Handle& handle) {
  for (const runtime::EnabledProbe& enabled : handle.enabled())
    if (const runtime::Probe& probe = *enabled.probe; !probe.remark.empty())
      tell("{}:{}:{}:{}: {}", probe.provider, probe.module, probe.function, probe.name, probe.remark);
}

// A description of any process, such as usdt*:::, means those that run. One may end while its probes are being enabled.
bool is_of_ended_stranger(const runtime::Probe& probe, const ReadyPrograms& programs, pid_t target) {
  const auto* site = std::get_if<runtime::UprobeSite>(&probe.site);
  if (site == nullptr || site->pid == target || !runtime::is_gone(site->pid)) return false;
  const auto names_it = [&](const dif::ProbeDesc& description) { return description.provider == probe.provider; };
  return std::none_of(programs.begin(), programs.end(), [&](const ReadyProgram& program) {
    return std::any_of(program.program.clauses.begin(), program.program.clauses.end(),
                       [&](const auto& clause) { return std::any_of(clause.probes.begin(), clause.probes.end(), names_it); });
  });
}

void tell_of_refused(runtime::Handle& handle, std::vector<runtime::Refused> refused, const ReadyPrograms& programs, pid_t target,
                     bool is_verbose) {
  std::erase_if(refused, [&](const runtime::Refused& one) { return is_of_ended_stranger(*one.probe, programs, target); });
  for (const std::string& line : describe_refused(handle, refused, is_verbose)) tell("{}", line);
}

// From probes on to probes off; the error ends tracing.
// polls: those of a run that is accounted for by a profile, or null.
Status follow(const TracingOptions& given, runtime::Handle& handle, const ReadyPrograms& programs, Targets& targets,
              std::FILE* out, lab::QuietPolls* polls) {
  std::vector<runtime::Refused> refused;
  const Status went = [&] {
    const WaitMessage waiting("enabling probes");
    ask_for_short_slice();  // rings overflow if dvm has to wait for a CPU
    return handle.go(refused);
  }();
  if (!went) {
    const std::vector<std::string> endings = targets.take_exit_notices(true);
    return Error{fmt::format("could not enable tracing: {}", endings.empty() ? went.error().message : endings.front())};
  }
  if (given.script.verbose) print_placements(handle), print_remarks(handle);
  if (is_all_refused(handle, refused))
    return Error{fmt::format("could not enable tracing: {}", fmt::join(describe_refused(handle, refused, false), "; "))};
  tell_of_refused(handle, refused, programs, targets.first(), given.script.verbose);
  if (const std::string objection = given.objection && !refused.empty() ? given.objection(handle, refused) : "";
      !objection.empty())
    return Error{objection};
  SignalScope signals(handle);
  targets.watch([&handle] { handle.targets_gone(); });
  Status resumed = targets.resume([&](pid_t pid) { return handle.holds(pid); });
  if (resumed)
    while (polls != nullptr ? polls->poll() : handle.work()) {
    }
  if (g_signalled_at != 0 && !given.as_json) fmt::print(out, "\n");  // the terminal has just echoed ^C
  Status stopped = handle.stop();
  targets.stop_watching();
  if (!resumed) return resumed;
  return stopped ? handle.status() : stopped;
}

vm::CostPolicy cost_policy(const TracingOptions& given) {
  const bool is_accounted = !given.account.empty() || !given.ledger.empty() || !given.exports.html.empty();
  return is_accounted ? vm::CostPolicy::blocks : vm::CostPolicy::none;
}

std::vector<const dif::Program*> pointers_to(const std::vector<ReadyProgram>& programs) {
  std::vector<const dif::Program*> pointers;
  for (const ReadyProgram& program : programs) pointers.push_back(&program.program);
  return pointers;
}

// For --html.
std::string account_text(const TracingOptions& given, runtime::Handle& handle, const ReadyPrograms& programs) {
  if (given.exports.html.empty()) return "";
  char* text = nullptr;
  size_t size = 0;
  std::FILE* const file = open_memstream(&text, &size);
  if (file == nullptr) return "";
  print_account(file, handle, pointers_to(programs), AccountForm::json);
  std::fclose(file);
  std::string made(text, size);
  std::free(text);
  return made;
}

// The clauses that became machine code while they were traced, or should have, and what else has changed.
void print_changes(runtime::Handle& handle) {
  for (const runtime::Placement& one : handle.placements())
    if (one.interpreted != 0)
      tell("dt_clause_{}: engine {} after {} firings", one.clause, one.engine, one.interpreted);
    else if (changes_engine(handle.options()) && !one.engine_problem.empty())
      tell("dt_clause_{}: engine {}; not llvm: {}", one.clause, one.engine, one.engine_problem);
  for (const std::string& change : handle.changes()) tell("{}", change);
}

// Prints the results that remain at the end of a run; returns its exit status. `ledger` is null unless the run is priced by a
// profile.
int conclude(const TracingOptions& given, runtime::Handle& handle, Targets& targets, const Status& followed, std::FILE* out,
             const ReadyPrograms& programs, const LedgerContext* ledger) {
  if (handle.options()[dif::Option::quiet] == 0)
    for (const std::string& notice : targets.take_exit_notices(false)) tell("{}", notice);
  if (given.script.verbose) print_changes(handle);
  if (!given.account.empty())
    print_account(out, handle, pointers_to(programs), given.account == "json" ? AccountForm::json : AccountForm::table);
  if (ledger != nullptr && followed) print_ledger(out, handle.account(), *ledger);
  if (!followed) return fail("{}", followed.error().message);
  if (const std::string complaint = given.complaint ? given.complaint(handle) : ""; !complaint.empty())
    return fail("{}", complaint);
  if (given.strict_drops && handle.drops() > 0 && handle.exit_status() == 0) return fail("there were drops");
  return handle.exit_status();
}

int list(runtime::Handle& handle, const TracingOptions& given, const ReadyPrograms& programs, pid_t target, std::FILE* out) {
  return list_probes(handle, pointers_to(programs),
                     given.script.verbose ? describe_as_dtrace(handle, given.script, programs, target) : DescribeProbes(),
                     NoMatch::succeeds, out);
}

// Onto standard error, since results go elsewhere.
Status predict(const TracingOptions& given, runtime::Handle& handle, const std::vector<ReadyProgram>& programs) {
  return print_run_prediction(stderr, handle, pointers_to(programs), given.script, given.prediction);
}

// From programs to the end of tracing.
TraceOutcome trace_programs(const TracingOptions& given, const MakePrograms& make, FiringSource& source,
                            runtime::HandleConfig config, EventsFile& events) {
  std::FILE* out = config.out;
  vm::Profile profile;
  if (!given.ledger.empty()) {
    Result<vm::Profile> read = read_profile(given.ledger == "here" ? "" : given.ledger);
    if (!read) return {fail("{}", read.error().message)};
    profile = *std::move(read);
  }
  runtime::Handle handle(std::move(config));
  if (Status added = add_source(handle, source); !added) return {fail("{}", added.error().message)};
  const std::vector<ReadyProgram> programs = make(handle, source.target);
  if (programs.empty()) return {};
  if (given.list_dif || handle.options()[dif::Option::verbose] > 0)
    for (const ReadyProgram& program : programs) print_dif(program.program, handle.options(), stderr);
  if (given.list_probes) return {.status = list(handle, given, programs, source.target, out)};
  if (!given.ledger.empty())
    if (const auto execution = execution_under(handle.options(), profile); !execution)
      return {fail("{}", execution.error().message)};
  if (Status known = check_view(given.view, pointers_to(programs)); !known) return {fail("{}", known.error().message)};
  if (given.compile_only) {
    if (given.script.verbose)
      print_clauses(handle, programs, describe_as_dtrace(handle, given.script, programs, source.target), out);
    return {.status = 0};
  }
  print_matched(programs, handle.options(), out);
  if (Status enabled = enable(handle, programs); !enabled) return {fail("could not enable tracing: {}", enabled.error().message)};
  events.begin();
  if (given.predict)
    if (Status shown = predict(given, handle, programs); !shown) return {fail("{}", shown.error().message)};
  const auto outcome = [&](const Status& followed, const LedgerContext* ledger) -> TraceOutcome {
    return {conclude(given, handle, source.targets, followed, out, programs, ledger), static_cast<bool>(followed),
            handle.instrument_drops(), account_text(given, handle, programs)};
  };
  if (given.ledger.empty()) return outcome(follow(given, handle, programs, source.targets, out, nullptr), nullptr);
  lab::measure_as(profile);
  lab::QuietPolls polls(handle, true);
  const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
  Status followed = follow(given, handle, programs, source.targets, out, &polls);
  source.replayed.is_quiet = handle.options()[dif::Option::quiet] > 0;
  const double taken = static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin) - polls.own_ns();
  const LedgerContext ledger{profile, source.replayed, taken, polls};
  return outcome(followed, &ledger);
}

Status write_page(Exporting& exporting, StackView& view, const TraceOutcome& outcome) {
  const auto find_flames = [&] {
    const WaitMessage waiting("drawing flame graphs");
    return view.flames();
  };
  Result<std::vector<view::PageFlame>> flames = find_flames();
  return flames ? exporting.write_page(outcome.account, *std::move(flames)) : Status(flames.error());
}

}  // namespace

void add_tracing_options(CLI::App& command, TracingOptions& options, bool with_output) {
  command.add_flag("-w", options.script.destructive, "Allow destructive actions")->group("Tracing");
  command.add_flag("--strict-drops", options.strict_drops, "Exit with status 1 if anything was dropped")->group("Tracing");
  command
      .add_flag_callback(
          "-e", [&options] { options.compile_only = options.script.may_match_nothing = true; },
          "Check the script, find its probes, and exit")
      ->group(kNotTracing);
  command.add_flag("--account{table}", options.account, "Print the cost of the run, as table (default) or json")
      ->type_name("[=FORM]")
      ->check(CLI::IsMember({"table", "json"}))
      ->group("Cost");
  const HelpGroup group(command, "Output");
  command.add_flag("-q", options.script.quiet, "Print only the output of the script");
  command.add_flag("-F", options.script.flow_indent, "Indent the output by entry and return");
  if (with_output)
    command.add_option("-o", options.output, "Append the output to this file")
        ->type_name("FILE")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void add_run_options(CLI::App& command, TracingOptions& options) {
  const HelpGroup group(command, "Output");
  command.add_flag("--json", options.as_json,
                   fmt::format("Print results as JSON, one object per line ({})", documentation("docs/json.md")));
  add_view_options(command, options.view);
  command
      .add_option("--trace-events", options.trace_events, "Write records as trace events, which Perfetto opens, into this file")
      ->type_name("FILE");
  add_export_options(command, options.exports);
  command.add_flag("-S", options.list_dif, "List the DIF on standard error, as dtrace -S does");
  command.add_flag("-l", options.list_probes, "List the probes that the script matches, and exit")->group(kNotTracing);
  const HelpGroup tracing(command, "Tracing");
  add_setting(command, options.script, "-b", "bufsize", "SIZE", "Set the size of a principal buffer, like -x bufsize");
  command.add_flag_function(
      "-B", [](size_t) { tell("option -B has no effect"); }, "Accepted for compatibility with dtrace; ignored");
}

// Rows are sorted and their addresses resolved before anything is printed. The live view has the terminal for itself.
std::function<std::shared_ptr<void>(const char*)> end_shown(const TracingOptions& given) {
  if (given.exports.live) return nullptr;
  return [](const char* what) { return std::make_shared<WaitMessage>(what); };
}

TraceOutcome trace(const TracingOptions& given, const dif::Options& options, const OpenSource& open, const MakePrograms& make) {
  for (const std::string& file : {given.exports.html, given.view.flame})
    if (Status known = file.empty() ? Status() : check_writable(file); !known) return {fail("{}", known.error().message)};
  StackView view(given.view, !given.exports.html.empty());
  Result<File> out = open_output(given.output);
  if (!out) return {fail("{}", out.error().message)};
  EventsFile events;
  if (Status opened = events.open(given.trace_events); !opened) return {fail("{}", opened.error().message)};
  const auto exporting = std::make_shared<Exporting>();
  if (!given.list_probes && !given.compile_only)
    if (Status opened = exporting->open(given.exports); !opened)
      return (void)events.close(), TraceOutcome{fail("{}", opened.error().message)};
  Result<FiringSource> source = open(options, exporting->program_terminal());
  if (!source) return (void)events.close(), TraceOutcome{fail("{}", source.error().message)};
  TraceOutcome outcome = trace_programs(given, make, *source,
                                        {.options = options,
                                         .out = out->get(),
                                         .err = stderr,
                                         .as_json = given.as_json,
                                         .named_rows = given.named_rows,
                                         .aggregations_copy = view.copy(),
                                         .copies_stacks_only = given.view.folded,
                                         .shows_source = view.shows_source(),
                                         .trace_events = events.file(),
                                         .record_reader = exporting->record_reader(),
                                         .exporter = exporting->exporter(),
                                         .show_end = end_shown(given),
                                         .cost = cost_policy(given),
                                         .is_timed = given.ledger.empty(),
                                         .is_replay = source->is_replay,
                                         .recorded_processes = source->processes,
                                         .recorded_kernel = source->kernel,
                                         .target = source->target,
                                         .late_reads = source->late_reads,
                                         .symbols = source->symbols},
                                        events);
  if (Status closed = events.close(); !closed) outcome.status = fail("{}", closed.error().message);
  if (outcome.traced && !exporting->finish() && given.strict_drops && outcome.status == 0) outcome.status = 1;
  if (outcome.traced)
    if (Status shown = view.show(out->get()); !shown) outcome.status = fail("{}", shown.error().message);
  if (outcome.traced && !given.exports.html.empty())
    if (Status written = write_page(*exporting, view, outcome); !written) outcome.status = fail("{}", written.error().message);
  return outcome;
}

TraceOutcome trace(const TracingOptions& given, const OpenSource& open) {
  const ScriptOptions script = given.list_probes ? for_listing(given.script) : given.script;
  Result<dif::Options> options = run_time_options(script);
  if (!options) return {fail("{}", options.error().message)};
  Result<std::vector<compiler::Source>> sources = read_sources(script, *options);
  if (!sources) return {fail("{}", sources.error().message)};
  const auto make = [&](runtime::Handle& handle, pid_t target) { return compile_live(handle, *sources, script, target); };
  return trace(given, *options, open, make);
}

}  // namespace dvm::cmd
