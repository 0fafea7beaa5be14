// What the sources of live processes cost, measured on a child of dvm (looping_child.h): it calls functions with instructions of
// each kind, makes system calls, sends itself a signal, runs while timers fire. In points of a firing, as the paper has them:
//
//   A to F in the traced thread     CPU time of a call with the probe less that of one without (profile: the usual time that an
//                                   interrupt takes from a loop)
//   trigger  A to B                 the firing's time less the one that the child read just before: its argument
//   capture  B to C                 less what a call takes whose firings are counted by the kernel alone
//   resume   E to F                 the rest
//   handler  C to D, in dvm         CPU time of a firing that counts, less what the profile says of its ECB
//
// A call that can hand over no time has no resume: trigger holds both.
//
// Covered by tests/runtime/scenarios/test_cost.py.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <utility>

#include "common/clock.h"
#include "dvm/runtime/handle.h"
#include "lab/calibrate/live_run.h"
#include "lab/calibrate/meter.h"
#include "lab/noise/quiet_time.h"
#include "lab/price_of.h"
#include "runtime/cost/consumer.h"
#include "runtime/instrument/timer.h"
#include "runtime/provider/providers.h"

namespace dvm::lab {

using namespace runtime;
namespace {

constexpr const char* kEntry = "calibrated:::entry";
constexpr const char* kReturn = "calibrated:::return";
constexpr uint64_t kSlower = 8;         // a stepped call than another
constexpr uint64_t kLoopTime = 50'000;  // ns of the loop for each call of another stub

struct LiveSource {
  Source source;
  Stub stub;
  const char* probe = kEntry;
  const char* stamp = nullptr;  // the argument that the probe has of the call
  bool is_only_child = false;   // others fire it too, and are left out by a predicate
};

constexpr LiveSource kLive[] = {
    {Source::pid, Stub::stepped, kEntry, "arg0"},
    {Source::pid_emulated, Stub::emulated, kEntry, "arg0"},
    {Source::pid_moved, Stub::moved, kEntry, "arg0"},
    {Source::pid_nop5, Stub::nop5, kEntry, "arg0"},
    {Source::pid_return, Stub::emulated, kReturn, "arg1"},
    {Source::usdt, Stub::nop, kEntry, "arg0"},
    {Source::syscall, Stub::system_call, "syscall::getppid:entry", "arg0", true},
    {Source::sched, Stub::signal, "proc:::signal-send", nullptr, true},
    {Source::sdt, Stub::signal, "sdt:::signal_generate", nullptr, true},
    {Source::profile, Stub::loop, "profile-4999hz", nullptr, true},
};

// A probe that shares the trap of calibrated:::entry.
struct SharedSource {
  Source source;
  const char* probe;
};
constexpr SharedSource kShared[] = {{Source::pid_shared, "calibrated:::again"}, {Source::pid_return_shared, kReturn}};

std::string_view name_of(Source source) { return kSources[static_cast<size_t>(source)].name; }

// What is left of it. Less than nothing is nothing, lost in the spread.
vm::Price rest_of(const noise::Middle& all, const vm::Price& known) {
  return {std::max(all.median - known.m, 0.0), 0, std::hypot(all.deviation(), known.spread)};
}

// Ns a firing that dvm takes to look for those of a timer, which are few.
double looking(const LiveFigures& traced, const vm::Profile& profile) {
  Prices prices(profile);
  const double rate = traced.rate * cpus();
  return rate > 0 ? looking_cost(prices, std::array{LookedFor{rate, 1}}, 0).clocks / rate / profile.clock_hz * 1e9 : 0;
}

// Sets stages of a source, from ns.
class SourceRows {
 public:
  SourceRows(Source source, vm::Profile& profile) : source_(source), profile_(profile) {}
  void set(FlowStage stage, const vm::Price& ns) { profile_.set(row_of(source_, stage), times(ns, profile_.clock_hz / 1e9)); }

 private:
  Source source_;
  vm::Profile& profile_;
};

constexpr double kStep = 10;  // ns

// Of a distribution that lquantize() has printed, by steps: what a quarter took no longer than, since what disturbs a firing
// makes it longer.
std::optional<double> quick_one(const std::string& printed) {
  std::istringstream lines(printed);
  std::vector<std::pair<double, double>> steps;  // from, count
  double all = 0;
  for (std::string line; std::getline(lines, line);) {
    line.erase(line.find_last_not_of(' ') + 1);
    const size_t bar = line.find('|'), last = line.find_last_of(' ');
    if (bar == std::string::npos || last == std::string::npos || last < bar) continue;
    steps.emplace_back(std::atof(line.c_str()), std::atof(line.c_str() + last));
    all += steps.back().second;
  }
  double below = 0;
  for (const auto& [from, count] : steps) {
    if (below + count >= all / 4 && count > 0) return from + kStep * (all / 4 - below) / count;
    below += count;
  }
  return std::nullopt;
}

class SourceMeter {
 public:
  SourceMeter(const LiveSource& source, LoopingChild& child, const CompileScript& compile, const LiveMeterOptions& options)
      : source_(source), child_(child), compile_(compile), options_(options) {
    calls_.stub = source.stub;
    calls_.times = source.stub == Stub::loop ? kLoopTime * options.calls : options.calls;
    if (source.stub == Stub::stepped) calls_.times /= kSlower;
  }

  Status measure(vm::Profile& profile) {
    const bool is_loop = source_.stub == Stub::loop;
    const std::string script = counting();
    // Of the loop an interrupt is timed as such: there is nothing to take off.
    const Result<noise::Middle> plain =
        is_loop ? noise::Middle{} : measure_untraced(std::string(name_of(source_.source)), calls_, child_, options_);
    if (!plain) return plain.error();
    const Result<LiveFigures> traced = measure_live(series("counting"), {calls_, script}, child_, compile_, options_);
    if (!traced) return traced.error();
    if (traced->thread.median == 0) return Error{"it never fired"};
    SourceRows rows(source_.source, profile);
    vm::Price known = known_firings(script, compile_, profile);
    known.m += is_loop ? looking(*traced, profile) : 0;
    rows.set(FlowStage::handler, rest_of(traced->handled, known));
    return set_stages(*plain, *traced, rows);
  }

 private:
  std::string series(const char* what) const { return fmt::format("{} {}", name_of(source_.source), what); }
  std::string only_child() const { return source_.is_only_child ? fmt::format(" pid == {} ", child_.pid()) : ""; }
  std::string counting() const {
    const std::string only = only_child();
    return fmt::format("{} {} {{ @ = count(); }}", source_.probe, only.empty() ? "" : "/" + only + "/");
  }

  Status set_stages(const noise::Middle& plain, const LiveFigures& traced, SourceRows& rows) {
    const vm::Price all = difference(traced.thread, plain);
    const Result<LiveFigures> bare = measure_live(series("bare"), {calls_, counting(), {}, true}, child_, compile_, options_);
    if (!bare) return bare.error();
    vm::Price capture = difference(traced.thread, bare->thread);
    capture.m = std::min(capture.m, all.m);
    double resume = 0;
    if (source_.stamp != nullptr) {
      const Result<double> trigger = until_handler(plain);
      if (!trigger) return trigger.error();
      resume = std::clamp(all.m - capture.m - *trigger, 0.0, all.m - capture.m);
      rows.set(FlowStage::resume, {resume, 0, all.spread});
    }
    rows.set(FlowStage::capture, capture);
    rows.set(FlowStage::trigger, {all.m - capture.m - resume, 0, all.spread});
    return {};
  }

  // Ns from the call to the firing's time. Between two readings of the clock lies one reading, and that is not the probe's.
  Result<double> until_handler(const noise::Middle& plain) {
    StubCalls stamped = calls_;
    stamped.is_stamped = true;
    const Result<noise::Middle> reading = measure_untraced(series("stamped"), stamped, child_, options_);
    if (!reading) return reading.error();
    const std::string only = only_child();
    const std::string script =
        fmt::format("{} {} {{ @ = lquantize(timestamp - {}, 0, 20000, {}); }} END {{ printa(\"%@d\", @); }}", source_.probe,
                    only.empty() ? "" : "/" + only + "/", source_.stamp, kStep);
    const Result<LiveFigures> traced = measure_live(series("stamped"), {stamped, script}, child_, compile_, options_);
    if (!traced) return traced.error();
    const std::optional<double> found = quick_one(traced->printed);
    const noise::Middle until = found || !options_.book
                                    ? noise::settle(options_.book, series("until"), noise::Middle{found.value_or(0), 0})
                                    : options_.book->settled(series("until"));
    return until.median - (reading->median - plain.median);
  }

  const LiveSource& source_;
  LoopingChild& child_;
  const CompileScript& compile_;
  LiveMeterOptions options_;
  StubCalls calls_;
};

// What the probe takes more where the entry is probed as well.
Status measure_shared(const SharedSource& source, LoopingChild& child, const CompileScript& compile,
                      const LiveMeterOptions& options, vm::Profile& profile) {
  const StubCalls calls{Stub::emulated, options.calls};
  const std::string entry = fmt::format("{} {{ @ = count(); }}", kEntry),
                    more = fmt::format("{} {{ @ = count(); }}", source.probe);
  const Result<LiveFigures> one =
      measure_live(fmt::format("{} one", name_of(source.source)), {calls, entry}, child, compile, options);
  if (!one) return one.error();
  const Result<LiveFigures> both =
      measure_live(fmt::format("{} both", name_of(source.source)), {calls, entry + more}, child, compile, options);
  if (!both) return both.error();
  SourceRows rows(source.source, profile);
  rows.set(FlowStage::trigger, difference(both->thread, one->thread));
  const vm::Price known = known_firings(more, compile, profile);
  // Both firings of a call, less the one and the ECB of the other.
  const vm::Price others{one->handled.median + known.m, 0, one->handled.deviation() + known.spread};
  rows.set(FlowStage::handler, rest_of(both->handled, others));
  return {};
}

constexpr const char* kTickScript = "tick-5000hz { @ = count(); }";

// CPU time of dvm for each firing of a timer of its own, with the ECB that counts.
Result<double> sample_tick(const dif::Program& program, uint64_t firings) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> nowhere(std::fopen("/dev/null", "we"), std::fclose);
  HandleConfig config;
  config.out = config.err = nowhere.get();
  if (Status set = set_options(config.options, {{"quiet", ""}, {"switchrate", "10ms"}, {"aggrate", "1h"}}); !set)
    return set.error();
  Handle handle(config);
  for (auto& provider : make_providers()) handle.add_provider(std::move(provider));
  handle.add_instrument(make_timer_instrument());
  handle.discover(program.clauses.front().probes.front());
  if (Status enabled = handle.enable(program); !enabled) return enabled.error();
  std::vector<Refused> refused;
  if (Status went = handle.go(refused); !went) return went.error();
  const uint64_t first = handle.account().events;
  noise::QuietTime time;
  bool goes_on = true;
  uint64_t last = first;
  for (time.begin(); goes_on && last - first < firings;) {
    const uint64_t used = read_clock(CLOCK_THREAD_CPUTIME_ID);
    goes_on = handle.work();
    const auto taken = static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - used);
    const uint64_t before = std::exchange(last, handle.account().events);
    time.end(taken, static_cast<double>(last - before));
  }
  if (last - first < firings) return Error{"the timer stopped"};
  return time.usual();
}

Status measure_tick(const CompileScript& compile, const LiveMeterOptions& options, vm::Profile& profile) {
  constexpr uint64_t kCalls = 15;  // of other sources, for each firing
  const Result<dif::Program> program = compile(kTickScript);
  if (!program) return program.error();
  std::vector<double> samples;
  for (unsigned i = 0; i < options.samples; i++) {
    Result<double> sample = sample_tick(*program, options.calls / kCalls);
    if (!sample) return sample.error();
    samples.push_back(*sample);
  }
  const noise::Middle firing = noise::settle_middle(options.book, "tick", noise::quiet_middle(samples));
  const vm::Price known = known_firings(kTickScript, compile, profile);
  profile.set("source/tick/handler"_row, times(rest_of(firing, known), profile.clock_hz / 1e9));
  return {};
}

// Of one source.
std::vector<Row> rows_of(Source name) {
  std::vector<Row> rows = {row_of(name, FlowStage::handler)};
  if (name != Source::tick) rows.push_back(row_of(name, FlowStage::trigger));
  for (const LiveSource& source : kLive) {
    if (name != source.source) continue;
    rows.push_back(row_of(name, FlowStage::capture));
    if (source.stamp != nullptr) rows.push_back(row_of(name, FlowStage::resume));
  }
  return rows;
}

Status measure_source(Source name, const Bench& bench, vm::Profile& profile) {
  if (name == Source::tick) return measure_tick(bench.compile, bench.live, profile);
  auto child = LoopingChild::start();
  if (!child) return child.error();
  for (const SharedSource& source : kShared)
    if (name == source.source) return measure_shared(source, **child, bench.compile, bench.live, profile);
  for (const LiveSource& source : kLive)
    if (name == source.source) return SourceMeter(source, **child, bench.compile, bench.live).measure(profile);
  return Error{fmt::format("there is no measurement of {}", name_of(name))};
}

bool is_timer(Source source) { return source == Source::profile || source == Source::tick; }

// Timers, or all others.
std::vector<Source> live_sources(bool are_timers) {
  std::vector<Source> sources;
  for (const LiveSource& one : kLive) sources.push_back(one.source);
  for (const SharedSource& one : kShared) sources.push_back(one.source);
  sources.push_back(Source::tick);
  std::erase_if(sources, [&](Source source) { return is_timer(source) != are_timers; });
  return sources;
}

template <bool kTimers>
std::vector<Row> source_rows() {
  std::vector<Row> rows;
  for (const Source source : live_sources(kTimers))
    for (const Row row : rows_of(source)) rows.push_back(row);
  return rows;
}

// One that cannot be had here does not keep others from being measured.
template <bool kTimers>
Status measure_sources(const Bench& bench, std::optional<Row> only, vm::Profile& profile) {
  const std::vector<Source> sources = live_sources(kTimers);
  for (size_t i = 0; i < sources.size(); i++) {
    bench.progress(i, sources.size());
    const std::vector<Row> rows = rows_of(sources[i]);
    if (only && std::find(rows.begin(), rows.end(), *only) == rows.end()) continue;
    const Status measured = measure_source(sources[i], bench, profile);
    if (only) return measured;
    if (!measured) bench.warn(fmt::format("the source {} was not measured: {}", name_of(sources[i]), measured.error().message));
  }
  return {};
}

}  // namespace

// Timers come after the looks: the cost of one of their few firings in dvm is mostly a look, which must have a price by then.
const Meter kSourceMeter = {"sources", "", source_rows<false>, measure_sources<false>};
const Meter kTimerMeter = {"timers", "", source_rows<true>, measure_sources<true>};

}  // namespace dvm::lab
