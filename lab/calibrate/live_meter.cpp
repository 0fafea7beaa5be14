// The costs of live sources, measured on a child (looping_child.h) that calls functions with instructions of each kind, makes
// system calls, sends itself a signal, or runs while timers fire. By the paper's points of a firing:
//
//   A to F in the traced thread     CPU time of a call with the probe less that of one without (profile: the usual time that an
//                                   interrupt takes from a loop)
//   trigger  A to B                 the firing's time less the one that the child read just before: its argument
//   capture  B to C                 less what a call takes whose firings are counted by the kernel alone
//   resume   E to F                 the rest
//   handler  C to D, in dvm         CPU time of a firing that counts, less what the profile says of its ECB
//
// A call that cannot hand over a time has no resume: trigger includes it.
//
// Covered by tests/runtime/scenarios/test_calibrate.py.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "common/clock.h"
#include "dvm/runtime/handle.h"
#include "lab/calibrate/live_run.h"
#include "lab/noise/quiet_time.h"
#include "runtime/cost/model.h"

namespace dvm::lab {

using namespace runtime;
namespace {

constexpr const char* kEntry = "calibrated:::entry";
constexpr const char* kReturn = "calibrated:::return";
constexpr uint64_t kSlower = 8;         // a stepped call than another
constexpr uint64_t kLoopTime = 50'000;  // ns of the loop for each call of another callee

struct LiveSource {
  PricedSource source;
  CalleeKind callee;
  const char* probe = kEntry;
  const char* stamp = nullptr;  // the argument that the probe has of the call
  bool is_only_child = false;   // others fire it too, and are left out by a predicate
  bool is_shared = false;       // it shares the trap of calibrated:::entry
};

constexpr LiveSource kLive[] = {
    {PricedSource::pid, CalleeKind::stepped, kEntry, "arg0"},
    {PricedSource::pid_emulated, CalleeKind::emulated, kEntry, "arg0"},
    {PricedSource::pid_moved, CalleeKind::moved, kEntry, "arg0"},
    {PricedSource::pid_nop5, CalleeKind::nop5, kEntry, "arg0"},
    {PricedSource::pid_return, CalleeKind::emulated, kReturn, "arg1"},
    {PricedSource::usdt, CalleeKind::nop, kEntry, "arg0"},
    {PricedSource::syscall, CalleeKind::system_call, "syscall::getppid:entry", "arg0", true},
    {PricedSource::sched, CalleeKind::signal, "proc:::signal-send", nullptr, true},
    {PricedSource::sdt, CalleeKind::signal, "sdt:::signal_generate", nullptr, true},
    {PricedSource::pid_shared, CalleeKind::emulated, "calibrated:::again", nullptr, false, true},
    {PricedSource::pid_return_shared, CalleeKind::emulated, kReturn, nullptr, false, true},
};
constexpr LiveSource kTimers[] = {
    {PricedSource::profile, CalleeKind::loop, "profile-4999hz", nullptr, true},
    {PricedSource::tick, CalleeKind::loop, "tick-5000hz"},
};

std::string_view name_of(PricedSource source) { return kSources[static_cast<size_t>(source)]; }

// Ns of polling for each firing of a timer.
double polling(const LiveFigures& traced, const vm::Profile& profile) {
  Prices prices(profile);
  const double rate = traced.rate * cpus();
  return rate > 0 ? polling_cost(prices, std::array{PolledClauses{rate, 1}}, 0).clocks / rate / profile.clock_hz * 1e9 : 0;
}

constexpr double kStep = 10;  // ns

// CPU time of dvm for each firing of a timer of its own, with the ECB that counts.
double sample_tick(const dif::Program& program, uint64_t firings) {
  const LiveCase one{.calls = {}, .script = {}, .settings = {{"switchrate", "10ms"}}, .by = LiveCase::By::timer};
  LiveRun run(one, {});
  run.start(program);
  Handle& handle = run.handle();
  noise::QuietTime time;
  time.begin();
  for (uint64_t seen = handle.account().events, end = seen + firings; seen < end;) {
    const uint64_t used = read_clock(CLOCK_THREAD_CPUTIME_ID);
    if (!handle.work()) throw Error{"the timer stopped"};
    const auto taken = static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - used);
    const uint64_t before = std::exchange(seen, handle.account().events);
    time.end(taken, static_cast<double>(seen - before));
  }
  return time.usual();
}

class SourceMeter {
 public:
  SourceMeter(const LiveSource& source, Bench& bench, vm::Profile& profile)
      : source_(source), name_(name_of(source.source)), bench_(bench), profile_(profile), calls_{source.callee, bench.calls} {
    if (source.callee == CalleeKind::loop) calls_.times *= kLoopTime;
    if (source.callee == CalleeKind::stepped) calls_.times /= kSlower;
  }

  void measure() {
    if (source_.source == PricedSource::tick) return measure_tick();
    child_ = or_throw(start_looping_child());
    source_.is_shared ? measure_shared() : measure_alone();
  }

 private:
  void set(FlowStage stage, const vm::Price& ns) {
    profile_.set(row_of(source_.source, stage), times(ns, clocks_of_ns(profile_)));
  }
  void set_handler(const noise::Middle& all, const vm::Price& known) {
    set(FlowStage::handler, {std::max(all.median - known.m, 0.0), 0, std::hypot(all.deviation(), known.spread)});
  }
  std::string script(const char* value = "count()") const {
    const std::string predicate = source_.is_only_child ? fmt::format("/ pid == {} /", child_->pid()) : "";
    return fmt::format("{} {} {{ @ = {}; }}", source_.probe, predicate, value);
  }
  LiveFigures live(const char* series, const LiveCase& one) {
    return measure_live(fmt::format("{} {}", name_, series), one, *child_, bench_);
  }

  void measure_alone() {
    const bool is_loop = source_.callee == CalleeKind::loop;
    // The loop times an interrupt by itself: there is nothing to subtract.
    const noise::Middle plain = is_loop ? noise::Middle{} : measure_untraced(name_, calls_, *child_, bench_);
    const LiveFigures traced = live("counting", {calls_, script()});
    if (traced.thread.median == 0) throw Error{"it never fired"};
    vm::Price known = known_firings(script(), bench_, profile_);
    known.m += is_loop ? polling(traced, profile_) : 0;
    set_handler(traced.handled, known);
    set_stages(plain, traced);
  }

  void set_stages(const noise::Middle& plain, const LiveFigures& traced) {
    const vm::Price all = difference(traced.thread, plain);
    vm::Price capture = difference(traced.thread, live("bare", {calls_, script(), {}, LiveCase::By::counter}).thread);
    capture.m = std::min(capture.m, all.m);
    double resume = 0;
    if (source_.stamp != nullptr) {
      const double trigger = until_handler(plain);
      resume = std::clamp(all.m - capture.m - trigger, 0.0, all.m - capture.m);
      set(FlowStage::resume, {resume, 0, all.spread});
    }
    set(FlowStage::capture, capture);
    set(FlowStage::trigger, {all.m - capture.m - resume, 0, all.spread});
  }

  // Ns from the call to the firing's time, without the reading of the clock.
  double until_handler(const noise::Middle& plain) {
    CalleeCalls stamped = calls_;
    stamped.is_stamped = true;
    const noise::Middle reading = measure_untraced(fmt::format("{} stamped", name_), stamped, *child_, bench_);
    const std::string lquantize = fmt::format("lquantize(timestamp - {}, 0, 20000, {})", source_.stamp, kStep);
    const LiveFigures traced = live("stamped", {stamped, script(lquantize.c_str())});
    // The lower quartile, as disturbances make firings longer. The first bucket lies below 0.
    const std::optional<double> found = noise::position_of(traced.buckets, 0.25);
    const std::string series = fmt::format("{} until", name_);
    const noise::Middle until =
        found ? bench_.book.settle(series, noise::Middle{kStep * (*found - 1), 0}) : bench_.book.settled(series);
    return until.median - (reading.median - plain.median);
  }

  // The extra cost of the probe if the entry is probed as well.
  void measure_shared() {
    const std::string entry = fmt::format("{} {{ @ = count(); }}", kEntry);
    const LiveFigures one = live("one", {calls_, entry}), both = live("both", {calls_, entry + script()});
    set(FlowStage::trigger, difference(both.thread, one.thread));
    const vm::Price known = known_firings(script(), bench_, profile_);
    // Both firings of a call, less the one and the ECB of the other.
    set_handler(both.handled, {one.handled.median + known.m, 0, one.handled.deviation() + known.spread});
  }

  void measure_tick() {
    constexpr uint64_t kCalls = 15;  // of other sources, for each firing
    const dif::Program program = or_throw(bench_.compile(script()));
    std::vector<double> samples;
    for (unsigned i = 0; i < bench_.samples; i++) samples.push_back(sample_tick(program, bench_.calls / kCalls));
    set_handler(bench_.book.settle_middle("tick", noise::quiet_middle(samples)), known_firings(script(), bench_, profile_));
  }

  const LiveSource& source_;
  const std::string name_;
  Bench& bench_;
  vm::Profile& profile_;
  CalleeCalls calls_;
  std::optional<LoopingChild> child_;
};

std::vector<Row> source_rows(std::span<const LiveSource> sources) {
  std::vector<Row> rows;
  for (const LiveSource& one : sources) {
    const auto add_if = [&](bool has, FlowStage stage) {
      if (has) rows.push_back(row_of(one.source, stage));
    };
    const bool is_tick = one.source == PricedSource::tick;
    add_if(true, FlowStage::handler), add_if(!is_tick, FlowStage::trigger);
    add_if(!is_tick && !one.is_shared, FlowStage::capture), add_if(one.stamp != nullptr, FlowStage::resume);
  }
  return rows;
}

// A source that is not available here does not prevent others from being measured.
void measure_sources(std::span<const LiveSource> sources, Bench& bench, std::optional<Row> only, vm::Profile& profile) {
  for (size_t i = 0; i < sources.size(); i++) {
    bench.progress(i, sources.size());
    if (only && !has_row(source_rows(sources.subspan(i, 1)), *only)) continue;
    const Status measured = caught([&] { SourceMeter(sources[i], bench, profile).measure(); });
    if (only) return or_throw(measured);
    if (!measured)
      bench.warn(fmt::format("the source {} was not measured: {}", name_of(sources[i].source), measured.error().message));
  }
}

}  // namespace

// Timers come after polls: one of their few firings costs dvm mostly a poll, which must have a price by then.
extern const Meter kSourceMeter = {
    "sources", "", [] { return source_rows(kLive); },
    [](Bench& bench, std::optional<Row> only, vm::Profile& profile) { measure_sources(kLive, bench, only, profile); }};
extern const Meter kTimerMeter = {
    "timers", "", [] { return source_rows(kTimers); },
    [](Bench& bench, std::optional<Row> only, vm::Profile& profile) { measure_sources(kTimers, bench, only, profile); }};

}  // namespace dvm::lab
