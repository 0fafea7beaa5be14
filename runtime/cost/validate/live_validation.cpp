// Covered by tests/runtime/scenarios/test_validate.py.

#include "runtime/cost/validate/live_validation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "common/clock.h"
#include "runtime/cost/model.h"
#include "runtime/cost/site_sources.h"
#include "runtime/cost/validate/bpftrace_peer.h"

namespace dvm::runtime {
namespace {

constexpr double kRoundsASecond = 50'000;  // of shares, as the paper has it
constexpr long kTriedRounds = 2'000, kTriedPause = 2'000;

double cpus() { return static_cast<double>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))); }

// Ns that all CPUs together were busy, in ticks of the kernel's clock.
double busy_time() {
  std::ifstream file("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, interrupts = 0, soft = 0;
  file >> name >> user >> nice >> system >> idle >> wait >> interrupts >> soft;
  return (user + nice + system + interrupts + soft) / static_cast<double>(sysconf(_SC_CLK_TCK)) * 1e9;
}

// CPU time of one round, in ns.
double of_round(double taken, const Job& job) { return taken / static_cast<double>(job.rounds); }
double rate_of(const JobTimes& times, const Job& job) { return static_cast<double>(job.rounds) / times.wall * 1e9; }

// Of the handle's thread, from one call to the other, without what it waited.
class HandledTime {
 public:
  HandledTime() : begin_(read_clock(CLOCK_THREAD_CPUTIME_ID)) {}
  double taken() const { return static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin_); }

 private:
  uint64_t begin_;
};

// The errors of many small marks lie in the last digits: a difference of medians, with both spreads.
struct Series {
  std::vector<double> values;
  Middle of() const { return middle(values); }
};

}  // namespace

std::optional<double> LiveResult::error() const {
  if (!predicted || !is_measured() || measured == 0 || row->measure == Measure::plain) return {};
  return 100 * (predicted->value - measured) / measured;
}

bool LiveResult::is_within() const { return predicted && std::abs(predicted->value - measured) <= predicted->spread + spread; }

LiveResult LiveValidation::measure(const LiveRow& row) {
  LiveResult failed;
  failed.row = &row;
  if (row.measure == Measure::absent) {
    failed.problem = row.program;
    return failed;
  }
  Result<LiveResult> result = try_measure(row);
  if (result) return *std::move(result);
  failed.problem = result.error().message;
  return failed;
}

Result<std::vector<long>> LiveValidation::sizes() {
  auto child = WorkloadChild::start(workload_);
  if (!child) return child.error();
  auto sizes = (*child)->run({"sizes", 0, 0});
  if (!sizes) return sizes.error();
  return std::vector{static_cast<long>(sizes->user), static_cast<long>(sizes->system), static_cast<long>(sizes->cpu)};
}

Result<LiveResult> LiveValidation::try_measure(const LiveRow& row) {
  if (row.measure == Measure::plain) return measure_plain(row);
  if (row.measure == Measure::peer) return measure_peer(row);
  return measure_traced(row);
}

// At full speed, or so long a pause that the rounds come as often as they should.
Result<Job> LiveValidation::job_of(const LiveRow& row, WorkloadChild& child) const {
  Job job{std::string(row.job), static_cast<long>(static_cast<double>(row.rounds) * settings_.rounds_share), 0};
  job.rounds = std::max(job.rounds, 100L);
  if (row.measure != Measure::share && row.measure != Measure::timer) return job;
  auto without = child.run({job.name, kTriedRounds, 0}), with = child.run({job.name, kTriedRounds, kTriedPause});
  if (!without) return without.error();
  if (!with) return with.error();
  const double round = without->cpu / kTriedRounds, turn = (with->cpu - without->cpu) / kTriedRounds / kTriedPause;
  job.rounds = static_cast<long>(kRoundsASecond * settings_.seconds);
  job.pause = turn > 0 ? std::max(0L, static_cast<long>((1e9 / kRoundsASecond - round) / turn)) : 0;
  return job;
}

Result<LiveResult> LiveValidation::measure_plain(const LiveRow& row) {
  auto child = WorkloadChild::start(workload_);
  if (!child) return child.error();
  const Result<Job> job = job_of(row, **child);
  if (!job) return job.error();
  std::vector<double> with, without;
  for (unsigned i = 0; i < settings_.pairs; i++) {
    auto taken = (*child)->run(*job);
    if (!taken) return taken.error();
    with.push_back(of_round(taken->cpu, *job));
    auto other = row.baseline.empty() ? Result<JobTimes>(JobTimes{}) : (*child)->run({std::string(row.baseline), job->rounds, 0});
    if (!other) return other.error();
    without.push_back(of_round(other->cpu, *job));
  }
  const double clocks = profile_.clock_hz / 1e9;
  const Middle of_with = middle(with), of_without = middle(without);
  LiveResult result;
  result.row = &row;
  result.measured = (of_with.median - of_without.median) * clocks;
  result.spread = std::hypot(of_with.deviation(), of_without.deviation()) * clocks;
  if (row.name.starts_with("off_")) result.predicted = Predicted{};  // what is not enabled costs nothing
  return result;
}

Result<LiveResult> LiveValidation::measure_peer(const LiveRow& row) {
  auto child = WorkloadChild::start(workload_);
  if (!child) return child.error();
  const Result<Job> job = job_of(row, **child);
  if (!job) return job.error();
  std::vector<double> added;
  for (unsigned i = 0; i < std::min(settings_.pairs, 3u); i++) {
    auto untraced = (*child)->run(*job);
    if (!untraced) return untraced.error();
    auto peer = BpftracePeer::start((*child)->pid(), fmt::format("uprobe:{}:{} {{ @ = count(); }}", workload_, row.program));
    if (!peer) return peer.error();
    auto traced = (*child)->run(*job);
    if (!traced) return traced.error();
    added.push_back(of_round(traced->cpu - untraced->cpu, *job));
  }
  const Middle all = middle(added);
  LiveResult result;
  result.row = &row;
  result.measured = result.thread = all.median;
  result.spread = all.deviation();
  return result;
}

Result<LiveValidation::Sample> LiveValidation::trace(TracedProgram& program, const Job& job, WorkloadChild& child) const {
  Handle& handle = program.handle();
  Sample sample;
  const double busy = busy_time();
  const HandledTime handled;
  if (Status ordered = child.order(job); !ordered) return ordered.error();
  std::jthread watcher([&] {
    child.wait();
    handle.interrupt();
  });
  while (handle.work()) {
  }
  watcher.join();
  sample.dvm = handled.taken();
  sample.busy = busy_time() - busy;
  Result<JobTimes> times = child.finish();
  if (!times) return times.error();
  sample.times = *times;
  return sample;
}

Result<LiveValidation::Pair> LiveValidation::measure_pair(const LiveRow& row, const Job& job, WorkloadChild& child,
                                                          LiveResult& result) {
  Pair pair;
  const double busy = busy_time();
  auto untraced = child.run(job);
  if (!untraced) return untraced.error();
  pair.untraced = {*untraced, 0, busy_time() - busy, 0};
  auto program = open_(std::string(row.program), {std::string(row.setting)}, child.pid());
  if (!program) return program.error();
  std::vector<Refused> refused;
  if (Status went = (*program)->handle().go(refused); !went) return went.error();
  auto traced = trace(**program, job, child);
  if (!traced) return traced.error();
  pair.traced = *traced;
  if (Status stopped = (*program)->handle().stop(); !stopped) return stopped.error();
  pair.traced.firings = (*program)->handle().account().events;
  result.drops += (*program)->handle().drops();
  const double firings = static_cast<double>(pair.traced.firings) / pair.traced.times.wall * 1e9;
  if (Status predicted = predict_row(**program, rate_of(pair.traced.times, job), firings, result); !predicted)
    return predicted.error();
  return pair;
}

Result<LiveResult> LiveValidation::measure_traced(const LiveRow& row) {
  auto child = WorkloadChild::start(workload_);
  if (!child) return child.error();
  const Result<Job> job = job_of(row, **child);
  if (!job) return job.error();
  LiveResult result;
  result.row = &row;
  Series measured, thread, dvm, rate;
  double busy = 0, untraced_busy = 0, wall = 0;
  for (unsigned i = 0; i < settings_.pairs; i++) {
    auto pair = measure_pair(row, *job, **child, result);
    if (!pair) return pair.error();
    measured.values.push_back(as_measured(row, *job, *pair));
    thread.values.push_back(of_round(pair->traced.times.cpu - pair->untraced.times.cpu, *job));
    dvm.values.push_back(of_round(pair->traced.dvm, *job));
    rate.values.push_back(rate_of(pair->traced.times, *job));
    busy += pair->traced.busy, untraced_busy += pair->untraced.busy, wall += pair->traced.times.wall;
  }
  result.measured = measured.of().median, result.spread = measured.of().deviation();
  result.thread = thread.of().median, result.dvm = dvm.of().median, result.rate = rate.of().median;
  if (row.measure != Measure::call) result.by_stat = 100 * (busy - untraced_busy) / wall;  // of the same rounds
  return result;
}

double LiveValidation::as_measured(const LiveRow& row, const Job& job, const Pair& pair) const {
  const JobTimes &with = pair.traced.times, &without = pair.untraced.times;
  if (row.measure == Measure::call) return of_round(with.cpu - without.cpu + pair.traced.dvm, job);
  if (row.measure == Measure::timer) return 100 * (cpus() * (with.cpu / without.cpu - 1) + pair.traced.dvm / with.wall);
  return 100 * measured_share((with.cpu + pair.traced.dvm) / with.wall, rate_of(with, job), without.cpu / without.wall,
                              rate_of(without, job));
}

// Of the last pair: each description of the program has its part of the firings.
Status LiveValidation::predict_row(TracedProgram& program, double rounds_rate, double firings, LiveResult& result) {
  PredictOptions how;
  how.probability = result.row->probability;
  how.sizes.expected = sizeof "hello DTrace";
  const dif::Options& options = program.handle().options();
  how.wake_ups = 1e9 / static_cast<double>(options[dif::Option::switchrate]);
  std::set<std::string> descriptions;
  for (const dif::Program* one : program.programs())
    for (const dif::EcbDesc& clause : one->clauses)
      for (const dif::ProbeDesc& description : clause.probes) descriptions.insert(text_of(description));
  for (const std::string& description : descriptions) how.rates[description] = firings / static_cast<double>(descriptions.size());
  const std::vector<const dif::Program*> programs = program.programs();
  how.sources = find_sources(program.handle(), programs);
  complete_(program, how);
  const Prediction prediction = predict(programs, profile_, how);
  const vm::Cost cost = result.row->measure == Measure::call
                            ? prediction.total.probes().times(1e9 / profile_.clock_hz / rounds_rate)
                            : prediction.total.all().times(100 / profile_.clock_hz);
  result.predicted = Predicted{cost.clocks, cost.spread, 0};
  if (result.row->measure == Measure::call && cost.clocks > 0) result.predicted->one_percent_rate = 1e7 / cost.clocks;
  result.missing = prediction.missing;
  return {};
}

}  // namespace dvm::runtime
