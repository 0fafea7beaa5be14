// Covered by tests/runtime/scenarios/test_validate.py.

#include "lab/validate/live_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <sstream>

#include "lab/calibrate/meter.h"
#include "lab/noise/quiet_time.h"
#include "lab/noise/quietest.h"
#include "lab/validate/bpftrace_peer.h"
#include "runtime/backend/local/live.h"
#include "runtime/catalog/catalog.h"
#include "runtime/cost/predict.h"
#include "runtime/cost/runs/agent_ways.h"
#include "runtime/cost/runs/sample.h"
#include "runtime/cost/runs/site_sources.h"

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

constexpr LiveRow kRows[] = {
#define DVM_LIVE_ROW(group, name, title, reference, measure, job, rounds, baseline, probability, frames, returns, program, \
                     setting)                                                                                              \
  {#group, #name, title, reference, Measure::measure, job, rounds, baseline, probability, frames, returns, program, setting},
#include "lab/validate/live_rows.def"
};

// Jobs of some milliseconds: more firings would fill the ring, or take long.
bool is_short(const LiveRow& row) { return row.measure == Measure::call && row.rounds < kShortJob; }

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream words{std::string(text)};
  return {std::istream_iterator<std::string>(words), {}};
}

// CPU time of one round, in ns.
double of_round(double taken, const Job& job) { return taken / static_cast<double>(job.rounds); }
double mean(const std::vector<double>& of) {
  return of.empty() ? 0 : std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
}
double rate_of(const JobTimes& times, const Job& job) { return static_cast<double>(job.rounds) / times.wall * 1e9; }

}  // namespace

std::optional<double> LiveResult::error() const {
  if (!predicted || !is_measured() || measured == 0 || row->measure == Measure::plain) return {};
  return 100 * (predicted->value - measured) / measured;
}

bool LiveResult::is_within() const {
  return predicted && std::abs(predicted->value - measured) <= 2 * (predicted->spread + spread);
}

std::vector<const LiveRow*> find_live_rows(std::span<const std::string> names, std::string& unknown) {
  const auto is_asked_for = [](const LiveRow& row, const std::string& name) { return row.name == name || row.group == name; };
  for (const std::string& name : names)
    if (std::none_of(std::begin(kRows), std::end(kRows), [&](const LiveRow& row) { return is_asked_for(row, name); }))
      unknown = name;
  std::vector<const LiveRow*> found;
  for (const LiveRow& row : kRows)
    if (names.empty() || std::any_of(names.begin(), names.end(), [&](const auto& name) { return is_asked_for(row, name); }))
      found.push_back(&row);
  return found;
}

LiveResult LiveValidation::measure(const LiveRow& row) const {
  LiveResult result;
  result.row = &row;
  if (row.measure == Measure::absent) {
    result.problem = row.program;
  } else if (Status measured = try_measure(result); !measured) {
    result = {};
    result.row = &row, result.problem = measured.error().message;
  }
  return result;
}

Result<std::vector<long>> LiveValidation::sizes() const {
  auto child = WorkloadChild::start(workload_);
  if (!child) return child.error();
  auto sizes = (*child)->run({"sizes"});
  if (!sizes) return sizes.error();
  return std::vector{static_cast<long>(sizes->cpu), static_cast<long>(sizes->wall), static_cast<long>(sizes->calls)};
}

// At full speed, or in bursts, so that rounds come as often as they should. Timers interrupt a job that does nothing else.
Job LiveValidation::job_of(const LiveRow& row) const {
  Job job{std::string(row.job), static_cast<long>(static_cast<double>(row.rounds) * settings_.rounds_share)};
  job.rounds = std::max(job.rounds, 100L);
  if (row.measure == Measure::share)
    job = {job.name, static_cast<long>(kRoundsASecond * settings_.seconds / kShorterShares), kBurst, kPeriod};
  else if (row.measure == Measure::timer)
    job.rounds = static_cast<long>(1e9 * settings_.seconds);
  return job;
}

Result<LiveValidation::Pair> LiveValidation::measure_plain_pair(const LiveRow& row, const Job& job, WorkloadChild& child) const {
  const auto with = child.run(job);
  if (!with) return with.error();
  const auto without = row.baseline.empty() ? Result<JobTimes>(JobTimes{}) : child.run({std::string(row.baseline), job.rounds});
  if (!without) return without.error();
  return Pair{{.times = *without}, {.times = *with}, std::min(with->quiet, without->quiet)};
}

Result<LiveValidation::Pair> LiveValidation::measure_peer_pair(const LiveRow& row, const Job& job, WorkloadChild& child) const {
  auto untraced = child.run(job);
  if (!untraced) return untraced.error();
  auto peer = BpftracePeer::start(child.pid(), fmt::format("uprobe:{}:{} {{ @ = count(); }}", workload_, row.program));
  if (!peer) return peer.error();
  auto traced = child.run(job);
  if (!traced) return traced.error();
  return Pair{{.times = *untraced}, {.times = *traced}, std::min(untraced->quiet, traced->quiet)};
}

// Timers fire on idle CPUs too; only those on the busy CPU count.
double LiveValidation::firings_of(const LiveRow& row, const Sample& traced) {
  return row.measure == Measure::timer ? std::min(static_cast<double>(traced.firings), kTimerRate * traced.times.wall / 1e9)
                                       : static_cast<double>(traced.firings);
}

// Ns of the workload's thread: of timers, its interrupts by them, of which untraced there are none.
double LiveValidation::thread_time(const LiveRow& row, const Sample& sample) {
  return row.measure == Measure::timer ? sample.times.cpu * firings_of(row, sample) : sample.times.cpu;
}

Result<LiveValidation::Pair> LiveValidation::measure_pair(const Job& job, WorkloadChild& child, LiveResult& result) const {
  const LiveRow& row = *result.row;
  Pair pair;
  const double busy = busy_time();
  auto untraced = child.run(job);
  if (!untraced) return untraced.error();
  pair.untraced = {*untraced, 0, busy_time() - busy, 0, 1};
  auto program = open_(std::string(row.program), words_of(row.setting), child.pid());
  if (!program) return program.error();
  const bool is_first = !result.predicted;
  auto sources = is_first ? find_sources_of(**program, job, child) : SourcesOfProbes();
  if (!sources) return sources.error();
  std::vector<Refused> refused;
  if (Status went = (*program)->handle().go(refused); !went) return went.error();
  const auto traced = trace_job(**program, job, child);
  if (!traced) return traced.error();
  pair.traced = {traced->times, traced->dvm, traced->busy, (*program)->handle().account().events, traced->quiet};
  pair.quiet = std::min({untraced->quiet, traced->times.quiet, traced->quiet});
  result.drops += (*program)->handle().drops();
  if (!is_first) return pair;
  const double firings = firings_of(row, pair.traced) / pair.traced.times.wall * 1e9;
  predict_row(**program, *std::move(sources), rate_of(pair.traced.times, job), firings, result);
  return pair;
}

Status LiveValidation::try_measure(LiveResult& result) const {
  const LiveRow& row = *result.row;
  auto child = WorkloadChild::start(workload_);
  if (!child) return child.error();
  const Job job = job_of(row);
  const bool is_short_job = row.measure == Measure::share || is_short(row);
  const unsigned wanted =
      row.measure == Measure::peer ? std::min(settings_.pairs, 3u) : settings_.pairs * (is_short_job ? kShorterShares : 1);
  const auto pairs = noise::quietest<Pair>(wanted, [&] {
    if (row.measure == Measure::plain) return measure_plain_pair(row, job, **child);
    return row.measure == Measure::peer ? measure_peer_pair(row, job, **child) : measure_pair(job, **child, result);
  });
  if (!pairs) return pairs.error();
  conclude(*pairs, job, result);
  return {};
}

void LiveValidation::conclude(const std::vector<Pair>& pairs, const Job& job, LiveResult& result) const {
  const LiveRow& row = *result.row;
  const auto all = [&](const std::function<double(const Pair&)>& of) {
    std::vector<double> values;
    for (const Pair& pair : pairs) values.push_back(of(pair));
    return values;
  };
  const auto round = [&](const Sample& sample) { return of_round(thread_time(row, sample), job); };
  const std::vector<double> traced = all([&](const Pair&pair) { return round(pair.traced); }),
                            untraced = all([&](const Pair&pair) { return round(pair.untraced); });
  result.quiet = mean(all([](const Pair& pair) { return pair.traced.times.quiet; }));
  if (row.measure == Measure::plain) {
    const noise::Middle with = noise::quiet_middle(traced), without = noise::quiet_middle(untraced);
    result.measured = (with.median - without.median) * clocks_of_ns(profile_);
    result.spread = std::hypot(with.deviation(), without.deviation()) * clocks_of_ns(profile_);
    if (row.name.starts_with("off_")) result.predicted = Predicted{};  // what is not enabled costs nothing
    return;
  }
  if (row.measure == Measure::peer) {
    const noise::Middle added = noise::middle(all([&](const Pair& pair) { return round(pair.traced) - round(pair.untraced); }));
    result.measured = result.thread = added.median, result.spread = added.deviation();
    return;
  }
  const vm::Price thread = difference(noise::quiet_middle(traced), noise::quiet_middle(untraced));
  noise::Middle dvm = noise::middle(all([&](const Pair& pair) { return of_round(pair.traced.dvm, job); }));
  if (mean(all([](const Pair& pair) { return pair.traced.dvm_quiet; })) < noise::kQuietEnough)
    dvm.distance = std::max(dvm.distance, kShared * dvm.median);
  result.rate = noise::middle(all([&](const Pair& pair) { return rate_of(pair.traced.times, job); })).median;
  result.thread = thread.m, result.dvm = dvm.median;
  // What a round takes more, at the traced rate, is the share that the paper computes from both shares.
  const double unit = row.measure == Measure::call ? 1 : 100 * result.rate / 1e9;  // ns a round, or % of a CPU
  result.measured = unit * (thread.m + dvm.median);
  result.spread = unit * std::hypot(thread.spread, dvm.deviation());
  if (result.quiet < noise::kQuietEnough) result.spread = std::max(result.spread, noise::kTooLong * result.measured);
  if (row.measure == Measure::call) return;
  const double busy = mean(all([](const Pair& pair) { return pair.traced.busy - pair.untraced.busy; }));
  result.by_stat = 100 * busy / mean(all([](const Pair& pair) { return pair.traced.times.wall; }));  // of the same rounds
}

// Which instructions the probes lie on. Of several probes of a description it must be known how often each fires: they are
// counted while the job runs once more, as --sample does.
Result<SourcesOfProbes> LiveValidation::find_sources_of(TracedProgram& program, const Job& job, WorkloadChild& child) const {
  const std::vector<const dif::Program*> programs = program.programs();
  const std::vector<const dif::ProbeDesc*> descriptions = descriptions_of(programs);
  const bool has_several = std::any_of(descriptions.begin(), descriptions.end(), [&](const dif::ProbeDesc* description) {
    return program.handle().catalog().match(*description).size() > 1;
  });
  if (!has_several) return find_sources(program.handle(), programs);
  if (Status ordered = child.order({job.name, kSampledRounds, kSampledBurst, kPeriod}); !ordered) return ordered.error();
  std::vector<Refused> refused;
  const auto rates = sample_rates(program.handle(), programs, kSampledSeconds, refused);
  if (const auto done = child.finish(); !done) return done.error();
  if (!rates) return rates.error();
  return find_sources(program.handle(), programs, rates->of_probes);
}

// Of the first pair: each description of the program has its part of the firings.
void LiveValidation::predict_row(TracedProgram& program, SourcesOfProbes sources, double rounds_rate, double firings,
                                 LiveResult& result) const {
  PredictOptions how;
  how.sources = std::move(sources);
  how.probability = result.row->probability;
  how.sizes.expected = sizeof "hello DTrace";
  how.sizes.frames = result.row->frames;
  how.returns = result.row->returns;
  if (result.row->measure == Measure::share) how.rests = 1e9 / kPeriod;
  const dif::Options& options = program.handle().options();
  how.ring = static_cast<double>(options[dif::Option::ringsize]);
  how.wake_ups = 1e9 / static_cast<double>(options[dif::Option::switchrate]);
  how.is_quiet = options[dif::Option::quiet] > 0;
  if (const int64_t bytes = options[dif::Option::ustackunwind]; bytes >= 0) how.stack_bytes = static_cast<uint32_t>(bytes);
  const std::vector<const dif::Program*> programs = program.programs();
  std::set<std::string> descriptions;
  for (const dif::ProbeDesc* description : descriptions_of(programs)) descriptions.insert(text_of(*description));
  if (chooses_agent(options))
    if (Status added = add_agent_ways(program.handle(), programs, how); !added)
      return void(result.problem = added.error().message);
  // dvm sees no firing of a clause in the thread. Each round has one of each of its probes.
  const auto rate_of_one = [&](const std::string& description) {
    const auto way = how.agent.find(description);
    const bool is_at_site = way != how.agent.end() && way->second.is_at_site;
    return is_at_site ? rounds_rate : firings / static_cast<double>(descriptions.size());
  };
  for (const std::string& description : descriptions) how.rates[description] = rate_of_one(description);
  const Prediction prediction = predict(programs, profile_, how);
  const double unit = result.row->measure == Measure::call ? 1e9 / rounds_rate : 100;  // ns a round, or % of a CPU
  const vm::Cost cost = prediction.total.all().times(unit / profile_.clock_hz);
  result.predicted = Predicted{cost.clocks, cost.spread, 0};
  if (result.row->measure == Measure::call && cost.clocks > 0) result.predicted->one_percent_rate = 1e7 / cost.clocks;
  result.missing = prediction.missing;
}

}  // namespace dvm::lab
