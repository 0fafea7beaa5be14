// Covered by tests/runtime/scenarios/test_cost.py.

#include "runtime/cost/calibrate/live_meter.h"

#include <fmt/format.h>
#include <unistd.h>

#include "common/clock.h"
#include "dvm/runtime/handle.h"
#include "runtime/cost/calibrate/looping_child.h"
#include "runtime/cost/calibrate/middle.h"
#include "runtime/cost/predict.h"
#include "runtime/instrument/timer.h"
#include "runtime/instrument/uprobe/uprobe.h"
#include "runtime/provider/providers.h"

namespace dvm::runtime {
namespace {

constexpr const char* kCalibrated = "calibrated:::firing";  // of a function of the child
constexpr double kLoops = 5000;                             // iterations that the loop has for each call of another stub
constexpr double kTimerRate = 4999;                         // of profile-N

struct LiveSource {
  const char* name;
  Stub stub;
  const char* probe = kCalibrated;
  bool is_return = false;
  bool is_only_child = false;  // others fire it too, and are left out by a predicate
};

constexpr LiveSource kSources[] = {
    {"pid", Stub::stepped},
    {"pid_emulated", Stub::emulated},
    {"pid_moved", Stub::moved},
    {"pid_nop5", Stub::nop5},
    {"pid_return", Stub::emulated, kCalibrated, true},
    {"usdt", Stub::nop},
    {"syscall", Stub::system_call, "syscall::getppid:entry", false, true},
    {"sched", Stub::signal, "proc:::signal-send", false, true},
    {"sdt", Stub::signal, "sdt:::signal_generate", false, true},
    {"profile", Stub::loop, "profile-4999hz"},
};

bool is_function(const LiveSource& source) { return source.probe == kCalibrated; }

// Ns of a call in the child's CPU time, and of a firing in dvm's.
struct LiveSample {
  double traced = 0, handled = 0;
};

// One attachment, `samples` rounds.
class LiveRun {
 public:
  static Result<std::unique_ptr<LiveRun>> start(const LiveSource& source, const dif::Program& program, LoopingChild& child) {
    std::unique_ptr<LiveRun> run(new LiveRun(child, source));
    if (!run->nowhere_) return Error{"failed to open /dev/null"};
    HandleConfig config;
    config.out = config.err = run->nowhere_.get();
    if (Status set = set_options(config.options, {{"quiet", ""}, {"switchrate", "10ms"}, {"aggrate", "1h"}}); !set)
      return set.error();
    run->handle_ = std::make_unique<Handle>(config);
    Handle& handle = *run->handle_;
    handle.add_instrument(make_uprobe_instrument());
    if (Status found = run->find_probe(program); !found) return found.error();
    if (Status enabled = handle.enable(program); !enabled) return enabled.error();
    std::vector<Refused> refused;
    if (Status went = handle.go(refused); !went) return went.error();
    if (!refused.empty()) return Error{refused.front().reason};
    return run;
  }

  Result<LiveSample> sample(uint64_t calls) {
    const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
    if (Status called = child_.call(source_.stub, calls); !called) return called.error();
    while (!child_.is_done() && handle_->work()) {
    }
    Result<double> traced = child_.finish();
    if (!traced) return traced.error();
    handle_->work();  // what is left in the ring
    const auto handled = static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin);
    return LiveSample{*traced, handled / static_cast<double>(calls)};
  }

  // After the last sample: nothing must have been lost.
  Status stop(uint64_t calls) {
    if (Status stopped = handle_->stop(); !stopped) return stopped;
    const uint64_t lost = handle_->instrument_drops();
    return lost == 0 ? Status() : Error{fmt::format("{} of {} firings were lost", lost, calls)};
  }

 private:
  Status find_probe(const dif::Program& program) {
    if (!is_function(source_)) {
      for (auto& provider : make_providers()) handle_->add_provider(std::move(provider));
      const Discovery found = handle_->discover(program.clauses.front().probes.front());
      return found.reason.empty() ? Status() : Error{found.reason};
    }
    Result<uint64_t> offset = offset_of(source_.stub);
    if (!offset) return offset.error();
    const std::string path = fmt::format("/proc/{}/exe", child_.pid());
    handle_->catalog().add(
        {.provider = "calibrated", .name = "firing", .site = UprobeSite{path, *offset, source_.is_return, child_.pid()}});
    return {};
  }

  using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

  LiveRun(LoopingChild& child, const LiveSource& source) : child_(child), source_(source) {}

  LoopingChild& child_;
  LiveSource source_;
  File nowhere_{std::fopen("/dev/null", "we"), std::fclose};
  std::unique_ptr<Handle> handle_;
};

Result<std::vector<double>> untraced(LoopingChild& child, Stub stub, const LiveMeterOptions& options) {
  std::vector<double> samples;
  for (unsigned i = 0; i < options.samples; i++) {
    if (Status called = child.call(stub, options.calls); !called) return called.error();
    Result<double> taken = child.finish();
    if (!taken) return taken.error();
    samples.push_back(*taken);
  }
  return samples;
}

// What the ECB takes that counts.
double counted(const dif::Program& program, const vm::Profile& profile) {
  const dif::Program* programs[] = {&program};
  PredictOptions options;
  options.probability = 1;
  const Prediction prediction = predict(programs, profile, options);
  if (prediction.probes.empty()) return 0;
  const ProbePrediction& probe = prediction.probes.front();
  return (probe.firing.expected.clocks - probe.trigger.clocks) / profile.clock_hz * 1e9;
}

Result<dif::Program> compile_for(const LiveSource& source, const LoopingChild& child, const CompileScript& compile) {
  const std::string only = source.is_only_child ? fmt::format(" /pid == {}/", child.pid()) : "";
  return compile(fmt::format("{}{} {{ @ = count(); }}", source.probe, only));
}

Status measure(const LiveSource& source, const CompileScript& compile, LiveMeterOptions options, vm::Profile& profile) {
  auto child = LoopingChild::start();
  if (!child) return child.error();
  const Result<dif::Program> program = compile_for(source, **child, compile);
  if (!program) return program.error();
  if (source.stub == Stub::loop) options.calls = static_cast<uint64_t>(kLoops * static_cast<double>(options.calls));
  Result<std::vector<double>> without = untraced(**child, source.stub, options);
  if (!without) return without.error();
  auto run = LiveRun::start(source, *program, **child);
  if (!run) return run.error();
  std::vector<double> traced, handled;
  for (unsigned i = 0; i < options.samples; i++) {
    Result<LiveSample> sample = (*run)->sample(options.calls);
    if (!sample) return sample.error();
    traced.push_back(sample->traced), handled.push_back(sample->handled);
  }
  if (Status stopped = (*run)->stop(options.samples * options.calls); !stopped) return stopped;
  const Middle calls = middle(traced), plain = middle(*without);
  const double firings = source.stub == Stub::loop ? kTimerRate * calls.median / 1e9 : 1;                  // a call
  const double cpus = source.stub == Stub::loop ? static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)) : 1;  // that dvm hears of
  const std::string row = fmt::format("source/{}/", source.name);
  const double clocks = profile.clock_hz / 1e9;  // a ns
  profile.set(row + "trigger", times(difference(calls, plain), clocks / firings));
  profile.set(row + "handler",
              times(difference(times(middle(handled), 1 / firings / cpus), {counted(*program, profile), 0}), clocks));
  return {};
}

constexpr const char* kTick = "tick";

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
  const uint64_t before = handle.account().events, used = read_clock(CLOCK_THREAD_CPUTIME_ID);
  uint64_t fired = 0;
  while (fired < firings && handle.work()) fired = handle.account().events - before;
  if (fired < firings) return Error{"the timer stopped"};
  return static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - used) / static_cast<double>(fired);
}

Status measure_tick(const CompileScript& compile, const LiveMeterOptions& options, vm::Profile& profile) {
  constexpr uint64_t kCalls = 100;  // of other sources, for each firing
  const Result<dif::Program> program = compile("tick-5000hz { @ = count(); }");
  if (!program) return program.error();
  std::vector<double> samples;
  for (unsigned i = 0; i < options.samples; i++) {
    Result<double> sample = sample_tick(*program, options.calls / kCalls);
    if (!sample) return sample.error();
    samples.push_back(*sample);
  }
  profile.set("source/tick/handler", times(difference(middle(samples), {counted(*program, profile), 0}), profile.clock_hz / 1e9));
  return {};
}

}  // namespace

std::vector<std::string> live_sources() {
  std::vector<std::string> names = {kTick};
  for (const LiveSource& source : kSources) names.emplace_back(source.name);
  return names;
}

Status measure_source(const std::string& name, const CompileScript& compile, const LiveMeterOptions& options,
                      vm::Profile& profile) {
  if (name == kTick) return measure_tick(compile, options, profile);
  for (const LiveSource& source : kSources)
    if (name == source.name) return measure(source, compile, options, profile);
  return Error{fmt::format("there is no measurement of {}", name)};
}

}  // namespace dvm::runtime
