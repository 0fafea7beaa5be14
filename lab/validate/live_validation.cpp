// Covered by tests/runtime/scenarios/test_validate.py.

#include "lab/validate/live_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "lab/calibrate/meter.h"
#include "lab/noise/quiet_time.h"
#include "lab/validate/bpftrace_peer.h"
#include "runtime/backend/local/live.h"
#include "runtime/catalog/catalog.h"
#include "runtime/cost/predict.h"
#include "runtime/cost/runs/agent_ways.h"
#include "runtime/cost/runs/sample.h"

namespace dvm::lab {

using namespace runtime;
namespace {

// A sample of a share makes kBurst rounds in each kPeriod ns, as the paper's loops do.
constexpr long kBurst = 50, kPeriod = 1'000'000;
constexpr double kRoundsASecond = 1e9 * kBurst / kPeriod;
constexpr long kShortJob = 10'000;      // rounds
constexpr unsigned kShorterShares = 4;  // times as many samples of shares and of short jobs; those of shares are as much shorter
// A job with several probes runs once more to count the firings of each. It has to last until all are on.
constexpr long kSampledRounds = 10'000, kSampledBurst = 10;
constexpr double kSampledSeconds = 0.1;
constexpr double kTimerRate = 5000;  // firings a second of the fastest timer, on each CPU
constexpr double kShared = 0.3;      // relative distance of dvm's times if the SMT sibling was nearly always busy

#define IF(bytes) " syscall::read:entry /arg2 == " #bytes "/ { @ = count(); }"
#define LOOPER "pid$target:a.out:workload_looper"
#define LEAF "pid$target:a.out:workload_leaf"
#define CALLED "pid$target:a.out:workload_called"
#define SINCE_ENTRY " /self->t/ { @ = quantize(timestamp - self->t); self->t = 0; }"
constexpr const char* kNoFbt = "dvm has no probes in functions of the kernel";

constexpr LiveRow kRows[] = {
    // (a) Tao and Yang, table 7. Loops that do something some 50,000 times a second.
    {"a", "syscall", "read(2) of one byte, one clause", "6.8250 % measured, 6.3063 % predicted", Measure::share, "read", 0,
     "syscall::read:entry { @ = count(); }"},
    {"a", "fbt", "a kernel function, one clause", "11.8094 % measured, 13.1969 % predicted", Measure::absent, "", 0, kNoFbt},
    {"a", "syscall10", "read(2) of one byte, ten clauses with nine predicates", "21.4128 % measured, 20.5874 % predicted",
     Measure::share, "read", 0,
     "syscall::read:entry { @ = count(); }" IF(11) IF(12) IF(13) IF(14) IF(15) IF(16) IF(17) IF(18) IF(19), "", 1, 0, 0},
    {"a", "fbt10", "a kernel function, ten clauses with nine predicates", "26.1280 % measured, 25.3969 % predicted",
     Measure::absent, "", 0, kNoFbt},
    {"a", "pid", "a user function, one clause", "11.7090 % measured, 11.9732 % predicted", Measure::share, "function", 0,
     "pid$target:a.out:workload_function:entry { @ = count(); }"},
    {"a", "profile", "the fastest timer, on a busy CPU, one clause", "9.1941 % measured, 9.0882 % predicted, at 50,000 a second",
     Measure::timer, "interrupted", 0, "profile:::profile-5000hz /pid == $target/ { @ = count(); }"},
    // (c) Gregg, DTrace pid provider overhead: looper.
    {"c", "looper", "looper, untraced", "15 ns a call", Measure::plain, "looper", 2000000},
    {"c", "looper_count", "looper, @ = count()", "598 ns", Measure::call, "looper", 200000, LOOPER ":entry { @ = count(); }"},
    {"c", "looper_copyinstr", "looper, @[copyinstr(arg0)] = count()", "1500 ns", Measure::call, "looper", 200000,
     LOOPER ":entry { @[copyinstr(arg0)] = count(); }"},
    {"c", "strlen", "every instruction of strlen, trace(timestamp)", "about 2000 ns a probe, 15 of them", Measure::call, "looper",
     2000, "pid$target:libc:strlen: { trace(timestamp); }"},
    // (d) GitLab, measuring uprobe overhead: five uses.
    {"d", "counter", "counter", "1000 ns a call (BPF funccount), 1 % at 10000 calls/s", Measure::call, "stack", 200000,
     LEAF ":entry { @ = count(); }", "", 1, 9},
    {"d", "counter_peer", "counter, by bpftrace", "1050 ns (perf stat), 1 % at 9523", Measure::peer, "stack", 200000,
     "workload_leaf", "", 1, 9},
    // Behind the entry returns one function before the next firing, behind that all others.
    {"d", "latency", "latency from entry to return", "2450 ns, 1 % at 4081", Measure::call, "stack", 100000,
     LEAF ":entry { self->t = timestamp; } " LEAF ":return" SINCE_ENTRY, "", 1, 5},
    {"d", "stack_pointer", "stack by frame pointers", "1470 ns, 1 % at 6802", Measure::call, "stack", 100000,
     LEAF ":entry { @[ustack()] = count(); }", "ustackunwind=0", 13, 9},
    {"d", "stack_frames", "stack by call frame information (DWARF)", "3550 ns, 1 % at 2816", Measure::call, "stack", 6000,
     LEAF ":entry { @[ustack()] = count(); }", "ustackunwind=4096", 15, 9},
    // (e) LTTng, markers microbenchmark, in user space.
    {"e", "empty_loop", "an empty loop", "1.50 cycles", Measure::plain, "empty", 50000000},
    {"e", "off_nop", "marker off: a nop", "2.50 cycles (immediate value, test and branch)", Measure::plain, "nop", 50000000,
     "empty"},
    {"e", "off_branch", "marker off: load, test and branch", "1.17 cycles", Measure::plain, "branch", 50000000, "empty"},
    {"e", "off_nop_copy", "marker off beside a memcpy of 4 KB: a nop", "0.074 cycles", Measure::plain, "copy_nop", 500000,
     "copy"},
    {"e", "off_branch_copy", "marker off beside a memcpy of 4 KB: load, test and branch", "2.123 cycles", Measure::plain,
     "copy_branch", 500000, "copy"},
    {"e", "on_empty", "marker on: a call of an empty probe", "29.63 cycles", Measure::plain, "on_empty", 20000000, "empty"},
    {"e", "on_arguments", "marker on: with two arguments", "40.08 cycles, 10.45 of them to disable preemption", Measure::plain,
     "on_arguments", 20000000, "empty"},
    {"e", "on_copied", "marker on: which the probe copies", "0.89 cycles more", Measure::plain, "on_copied", 20000000,
     "on_arguments"},
    {"e", "on_varargs", "marker on: variable arguments", "8.03 cycles more", Measure::plain, "on_varargs", 20000000,
     "on_arguments"},
    {"e", "on_varargs_copied", "marker on: variable arguments that the probe copies", "2.74 cycles more", Measure::plain,
     "on_varargs_copied", 20000000, "on_varargs"},
    {"e", "on_decoded", "marker on: decoding \"%d %p\"", "40.48 cycles more", Measure::plain, "on_decoded", 10000000,
     "on_varargs_copied"},
    {"e", "trap", "a trap in its place: the marker traced by dvm", "4178.23 cycles (kprobe)", Measure::call, "nop", 200000,
     "workload$target:::marker { @ = count(); }"},
    // (f) By an agent: clauses in the traced thread, and records for clauses that dvm runs.
    {"f", "agent_count", "a call, @ = count()", "5 ns a call (goal)", Measure::call, "called", 20000000,
     CALLED ":entry { @ = count(); }", "backend=agent"},
    {"f", "agent_false", "a call, a predicate that is false", "3 ns (goal)", Measure::call, "called", 20000000,
     CALLED ":entry /arg0 == 1/ { @ = count(); }", "backend=agent", 1, 0, 0},
    {"f", "agent_copyinstr", "a call, @[copyinstr(arg0)] = count()", "15 ns (goal)", Measure::call, "called", 20000000,
     CALLED ":entry { @[copyinstr(arg0)] = count(); }", "backend=agent"},
    {"f", "agent_sum", "a call, sum by two integer keys", "10 ns by bench/agent.py, one key", Measure::call, "called", 20000000,
     CALLED ":entry { @[pid, arg0] = sum(arg0); }", "backend=agent"},
    {"f", "agent_record", "a call, a record for last[0] = arg0", "20 ns in the thread (goal)", Measure::share, "called", 0,
     CALLED ":entry { last[0] = arg0; }", "backend=agent ringsize=512k"},
    {"f", "agent_stack", "stack by frame pointers", "20 ns for three frames (goal)", Measure::call, "stack", 5000000,
     LEAF ":entry { @[ustack()] = count(); }", "backend=agent ustackunwind=0", 13, 9},
    {"f", "agent_latency", "a call, latency from entry to return", "25 ns (goal)", Measure::call, "called", 20000000,
     CALLED ":entry { self->t = timestamp; } " CALLED ":return" SINCE_ENTRY, "backend=agent"},
};
#undef IF
#undef LOOPER
#undef LEAF
#undef CALLED
#undef SINCE_ENTRY

// Jobs of some milliseconds: more firings would fill the ring, or take long.
bool is_short(const LiveRow& row) { return row.measure == Measure::call && row.rounds < kShortJob; }

double of_round(double taken, const Job& job) { return taken / static_cast<double>(job.rounds); }
double mean(const std::vector<double>& of) {
  return of.empty() ? 0 : std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
}
double rate_of(const JobTimes& times, const Job& job) { return static_cast<double>(job.rounds) / times.wall * 1e9; }

// The measurement of one row. What fails throws an Error.
class RowMeasurement {
 public:
  RowMeasurement(const LiveValidation& how, const LiveRow& row, LiveResult& result)
      : how_(how), row_(row), result_(result), job_(make_job()) {}

  void measure() {
    WorkloadChild child = start_workload(how_.workload);
    child_ = &child;
    const bool is_short_job = row_.measure == Measure::share || is_short(row_);
    const unsigned pairs = how_.settings.pairs;
    const unsigned wanted = row_.measure == Measure::peer ? std::min(pairs, 3u) : pairs * (is_short_job ? kShorterShares : 1);
    conclude(noise::quietest<Pair>(wanted, [&] {
      if (row_.measure == Measure::plain) return measure_plain_pair();
      return row_.measure == Measure::peer ? measure_peer_pair() : measure_pair();
    }));
  }

 private:
  struct Pair {
    JobTimes untraced, traced;
    double dvm = 0, busy = 0;  // ns: of dvm's thread; that all CPUs were busy for longer than untraced, by /proc/stat
    uint64_t firings = 0;
    double dvm_quiet = 1;  // share of dvm's polls
    double quiet = 0;      // the smallest share of rounds or polls with an idle sibling
  };

  // At full speed, or in bursts, so that rounds come as often as they should. Timers interrupt a job that does nothing else.
  Job make_job() const {
    Job job{row_.job, static_cast<long>(static_cast<double>(row_.rounds) * how_.settings.rounds_share)};
    job.rounds = std::max(job.rounds, 100L);
    if (row_.measure == Measure::share)
      job = {job.name, static_cast<long>(kRoundsASecond * how_.settings.seconds / kShorterShares), kBurst, kPeriod};
    else if (row_.measure == Measure::timer)
      job.rounds = static_cast<long>(1e9 * how_.settings.seconds);
    return job;
  }

  JobTimes run(const Job& job) const { return or_throw(child_->ask(job)); }

  Pair measure_plain_pair() const {
    const JobTimes with = run(job_), without = row_.program.empty() ? JobTimes{} : run({row_.program, job_.rounds});
    return {.untraced = without, .traced = with, .quiet = std::min(with.quiet, without.quiet)};
  }

  Pair measure_peer_pair() const {
    const JobTimes untraced = run(job_);
    const std::string script = fmt::format("uprobe:{}:{} {{ @ = count(); }}", how_.workload, row_.program);
    const auto peer = or_throw(start_bpftrace(child_->pid(), script));
    const JobTimes traced = run(job_);
    return {.untraced = untraced, .traced = traced, .quiet = std::min(untraced.quiet, traced.quiet)};
  }

  // Timers fire on idle CPUs too; only those on the busy CPU count.
  double firings_of(const Pair& pair) const {
    const auto all = static_cast<double>(pair.firings);
    return row_.measure == Measure::timer ? std::min(all, kTimerRate * pair.traced.wall / 1e9) : all;
  }

  // Ns of a round in the workload's thread: of timers, its interrupts by them, of which untraced there are none.
  double traced_round(const Pair& pair) const {
    return of_round(row_.measure == Measure::timer ? pair.traced.cpu * firings_of(pair) : pair.traced.cpu, job_);
  }
  double untraced_round(const Pair& pair) const { return row_.measure == Measure::timer ? 0 : of_round(pair.untraced.cpu, job_); }

  Pair measure_pair() {
    Pair pair;
    const double busy = busy_time();
    pair.untraced = run(job_);
    pair.busy = busy - busy_time();
    const auto program = or_throw(how_.open(row_.program, row_.setting, child_->pid()));
    const bool is_first = !std::exchange(has_begun_, true);
    SourcesOfProbes sources = is_first ? find_sources_of(*program) : SourcesOfProbes();
    std::vector<Refused> refused;
    or_throw(program->handle().go(refused));
    const TracedJob traced = trace_job(*program, job_, *child_);
    pair.traced = traced.times, pair.dvm = traced.dvm, pair.busy += traced.busy, pair.dvm_quiet = traced.quiet;
    pair.firings = program->handle().account().events;
    pair.quiet = std::min({pair.untraced.quiet, traced.times.quiet, traced.quiet});
    result_.drops += program->handle().drops();
    if (!is_first) return pair;
    predict_row(*program, std::move(sources), rate_of(pair.traced, job_), firings_of(pair) / pair.traced.wall * 1e9);
    return pair;
  }

  void conclude(const std::vector<Pair>& pairs) {
    const auto all = [&](const std::function<double(const Pair&)>& of) {
      std::vector<double> values;
      for (const Pair& pair : pairs) values.push_back(of(pair));
      return values;
    };
    const std::vector<double> traced = all([&](const Pair&pair) { return traced_round(pair); }),
                              untraced = all([&](const Pair&pair) { return untraced_round(pair); });
    result_.quiet = mean(all([](const Pair& pair) { return pair.traced.quiet; }));
    if (row_.measure == Measure::plain) {
      const noise::Middle with = noise::quiet_middle(traced), without = noise::quiet_middle(untraced);
      result_.measured = (with.median - without.median) * clocks_of_ns(how_.profile);
      result_.spread = std::hypot(with.deviation(), without.deviation()) * clocks_of_ns(how_.profile);
      if (row_.name.starts_with("off_")) result_.predicted = Predicted{};  // what is not enabled costs nothing
      return;
    }
    if (row_.measure == Measure::peer) {
      const noise::Middle added = noise::middle(all([&](const Pair& pair) { return traced_round(pair) - untraced_round(pair); }));
      result_.measured = result_.thread = added.median, result_.spread = added.deviation();
      return;
    }
    const vm::Price thread = difference(noise::quiet_middle(traced), noise::quiet_middle(untraced));
    noise::Middle dvm = noise::middle(all([&](const Pair& pair) { return of_round(pair.dvm, job_); }));
    if (mean(all([](const Pair& pair) { return pair.dvm_quiet; })) < noise::kQuietEnough)
      dvm.distance = std::max(dvm.distance, kShared * dvm.median);
    result_.rate = noise::middle(all([&](const Pair& pair) { return rate_of(pair.traced, job_); })).median;
    result_.thread = thread.m, result_.dvm = dvm.median;
    // What a round takes more, at the traced rate, is the share that the paper computes from both shares.
    const double unit = row_.measure == Measure::call ? 1 : 100 * result_.rate / 1e9;  // ns a round, or % of a CPU
    result_.measured = unit * (thread.m + dvm.median);
    result_.spread = unit * std::hypot(thread.spread, dvm.deviation());
    if (result_.quiet < noise::kQuietEnough) result_.spread = std::max(result_.spread, noise::kTooLong * result_.measured);
    if (row_.measure == Measure::call) return;
    const double wall = mean(all([](const Pair& pair) { return pair.traced.wall; }));  // of the same rounds
    result_.by_stat = 100 * mean(all([](const Pair& pair) { return pair.busy; })) / wall;
  }

  // Which instructions the probes lie on. Several probes of a description are counted while the job runs once more (--sample).
  SourcesOfProbes find_sources_of(TracedProgram& program) const {
    const std::vector<const dif::Program*> programs = program.programs();
    const std::vector<const dif::ProbeDesc*> descriptions = descriptions_of(programs);
    const bool has_several = std::any_of(descriptions.begin(), descriptions.end(), [&](const dif::ProbeDesc* description) {
      return program.handle().catalog().match(*description).size() > 1;
    });
    if (!has_several) return find_sources(program.handle(), programs);
    or_throw(child_->tell({job_.name, kSampledRounds, kSampledBurst, kPeriod}));
    std::vector<Refused> refused;
    const auto rates = sample_rates(program.handle(), programs, kSampledSeconds, refused);
    or_throw(child_->finish());
    return find_sources(program.handle(), programs, or_throw(rates).of_probes);
  }

  // Of the first pair: each description of the program has its part of the firings.
  void predict_row(TracedProgram& program, SourcesOfProbes sources, double rounds_rate, double firings) {
    PredictOptions how;
    how.sources = std::move(sources);
    how.probability = row_.probability;
    how.sizes.expected = sizeof "hello DTrace";
    how.sizes.frames = row_.frames;
    how.returns = row_.returns;
    if (row_.measure == Measure::share) how.wakes = 1e9 / kPeriod;
    const dif::Options& options = program.handle().options();
    take_options(how, options);
    const std::vector<const dif::Program*> programs = program.programs();
    std::set<std::string> descriptions;
    for (const dif::ProbeDesc* description : descriptions_of(programs)) descriptions.insert(text_of(*description));
    if (chooses_agent(options))
      if (Status added = add_agent_ways(program.handle(), programs, how); !added)
        return void(result_.problem = added.error().message);
    // dvm sees no firing of a clause in the thread. Each round has one of each of its probes.
    const auto rate_of_one = [&](const std::string& description) {
      const auto way = how.agent.find(description);
      const bool is_at_site = way != how.agent.end() && way->second.is_at_site;
      return is_at_site ? rounds_rate : firings / static_cast<double>(descriptions.size());
    };
    for (const std::string& description : descriptions) how.rates[description] = rate_of_one(description);
    const Prediction prediction = predict(programs, how_.profile, how);
    result_.missing = prediction.missing;
    if (!result_.missing.empty()) return;
    const double unit = row_.measure == Measure::call ? 1e9 / rounds_rate : 100;  // ns a round, or % of a CPU
    const vm::Cost cost = prediction.total.all().times(unit / how_.profile.clock_hz);
    result_.predicted = Predicted{cost.clocks, cost.spread};
  }

  const LiveValidation& how_;
  const LiveRow& row_;
  LiveResult& result_;
  const Job job_;
  WorkloadChild* child_ = nullptr;
  bool has_begun_ = false;  // the first pair
};

}  // namespace

std::optional<double> LiveResult::error() const {
  if (!predicted || !is_measured() || measured == 0 || row->measure == Measure::plain) return {};
  return 100 * (predicted->value - measured) / measured;
}

bool LiveResult::is_within() const {
  return predicted && std::abs(predicted->value - measured) <= 2 * (predicted->spread + spread);
}

std::vector<const LiveRow*> find_live_rows(std::span<const std::string> names, std::string& unknown) {
  std::set<std::string_view> all;
  for (const LiveRow& row : kRows) all.insert({row.name, row.group});
  std::vector<const LiveRow*> found;
  for (const LiveRow& row : kRows)
    if (names.empty() || std::ranges::count(names, row.name) + std::ranges::count(names, row.group) > 0) found.push_back(&row);
  for (const std::string& name : names)
    if (!all.contains(name)) unknown = name;
  return found;
}

LiveResult LiveValidation::measure(const LiveRow& row) const {
  LiveResult result;
  if (row.measure == Measure::absent)
    result.problem = row.program;
  else if (const Status done = caught([&] { RowMeasurement(*this, row, result).measure(); }); !done)
    result = {}, result.problem = done.error().message;
  result.row = &row;
  return result;
}

Result<std::vector<long>> LiveValidation::sizes() const try {
  const JobTimes sizes = or_throw(start_workload(workload).ask({"sizes"}));
  return std::vector{static_cast<long>(sizes.cpu), static_cast<long>(sizes.wall), static_cast<long>(sizes.calls)};
} catch (const Error& error) {
  return error;
}

}  // namespace dvm::lab
